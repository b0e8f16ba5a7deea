// Why a container still runs after its grace period: processes that cannot be killed, or a runtime that has lost the
// end of a container whose processes are gone.

import type { Pod } from "../../shared/kubernetes/api/pod.js";
import { escapedLine } from "../output/escape.js";
import { containersOf, type Finding } from "./input.js";
import { commandOf, processesIn, textOf } from "./pod-processes.js";

const MOST_SHOWN = 5;
/** A dead process that waits for its parent: it runs nothing. */
const ZOMBIE = "Z";
const SLEEPS_FOR_GOOD = "D";

interface Places {
  /** The pid of the kubelet: where it is not seen, the containers' processes are not either. */
  kubelet: number;
  /** "/proc"; another place in tests. */
  proc?: string;
}

/** The finding with the remaining processes of the containers that were not killed in time. */
export async function withUnkilled(pod: Pod, finding: Finding, { kubelet, proc = "/proc" }: Places): Promise<Finding> {
  if (finding.unkilled !== true) return finding;
  const all = await processesIn(proc);
  if (!all.some(({ pid }) => pid === String(kubelet))) return finding;
  const ids = containersOf(pod).flatMap(({ status }) =>
    status?.state.running === undefined ? [] : (status.containerID?.split("://")[1] ?? []),
  );
  if (ids.length === 0) return finding;
  const left: { pid: string; state: string }[] = [];
  for (const { pid, cgroup } of all) {
    if (!ids.some((id) => cgroup.includes(id))) continue;
    const state = stateOf(await textOf(`${proc}/${pid}/stat`));
    if (state !== undefined && state !== ZOMBIE) left.push({ pid, state });
  }
  if (left.length === 0) return { ...finding, help: [LOST, ...finding.help.slice(1)] };
  const stuck = left.filter(({ state }) => state === SLEEPS_FOR_GOOD);
  const shown = (stuck.length > 0 ? stuck : left).slice(0, MOST_SHOWN);
  const lines = await Promise.all(shown.map(({ pid, state }) => processText(proc, pid, state)));
  const help = stuck.length > 0 ? finding.help : [ALIVE, ...finding.help.slice(1)];
  return { ...finding, help, evidence: [...(finding.evidence ?? []), { title: "what is left of it", lines }] };
}

const LOST =
  "no process of it is left, but the runtime says that it runs: it has lost the container's end. A restart of the " +
  "runtime (for example systemctl restart containerd) lets it look again; other containers run on";
const ALIVE =
  "its processes are alive: the runtime has not sent SIGKILL, or it does not reach them. See the runtime's log " +
  "(for example journalctl -u containerd)";

async function processText(proc: string, pid: string, state: string): Promise<string> {
  const where = escapedLine((await textOf(`${proc}/${pid}/wchan`)).trim(), 64);
  const waits = where === "" || where === "0" ? "" : `, waits in ${where}`;
  return `the process ${await commandOf(proc, pid)} (pid ${pid}), state ${state}${waits}`;
}

/** Field 3 of proc_pid_stat(5); the name before it may have any character. undefined: the process is gone. */
function stateOf(stat: string): string | undefined {
  return /^ (\S)/.exec(stat.slice(stat.lastIndexOf(")") + 1))?.[1];
}
