// Finds the process that listens on a port which a container could not open, from /proc. The last output of the run
// tells that it could not.

import { readdir, readlink } from "node:fs/promises";
import type { Container, Pod } from "../../shared/kubernetes/api/pod.js";
import { fullName } from "../pods/find.js";
import { hostPortsOf } from "./host-ports.js";
import { containersOf, type Evidence, type Finding } from "./input.js";
import { commandOf, isOf, orNone, processesIn, textOf } from "./pod-processes.js";

const IN_USE =
  /address (?:is )?already in use|address in use|EADDRINUSE|port is already allocated|bind\(\) .*failed.*98/i;
/** State LISTEN in /proc/net/tcp. */
const LISTEN = "0A";

interface Places {
  /** The pid of the kubelet, by whose network the host is seen. */
  kubelet: number;
  pods: readonly Pod[];
  /** "/proc"; another place in tests. */
  proc?: string;
}

/** The finding with the holder of the port that its run could not open, where it can be found. */
export async function withPortHolder(pod: Pod, finding: Finding, places: Places): Promise<Finding> {
  const { output, evidence = [] } = finding;
  const lines = evidence.flatMap(({ lines: some }) => some);
  if (output === undefined || !lines.some((line) => IN_USE.test(line))) return finding;
  const container = containersOf(pod).find(({ container: { name } }) => name === output.container)?.container;
  const holders = await holdersOf(pod, candidates(pod, container, lines), places);
  if (holders.length === 0) return finding;
  return {
    ...finding,
    evidence: [...evidence, { title: "the holder of the port", lines: holders } satisfies Evidence],
  };
}

/** Ports that the output, the definition or the command names. */
function candidates(pod: Pod, container: Container | undefined, lines: readonly string[]): number[] {
  const named = lines.flatMap((line) =>
    [...line.matchAll(/(?:port |[:\]])(\d{1,5})\b/gi)].map(([, port]) => Number(port)),
  );
  const declared = [
    ...(container?.ports ?? []).map(({ containerPort }) => containerPort),
    ...hostPortsOf(pod).map(({ port }) => port),
  ];
  const words = [...(container?.command ?? []), ...(container?.args ?? [])].join(" ");
  const commanded = [...words.matchAll(/\b(\d{2,5})\b/g)].map(([, port]) => Number(port));
  return [...new Set([...named, ...declared, ...commanded])].filter((port) => port > 0 && port < 65_536);
}

async function holdersOf(
  pod: Pod,
  ports: readonly number[],
  { kubelet, pods, proc = "/proc" }: Places,
): Promise<string[]> {
  const processes = await processesIn(proc);
  // Containers of a pod share its network; any of its processes shows it.
  const inside = pod.spec.hostNetwork === true ? String(kubelet) : processes.find((one) => isOf(one, pod))?.pid;
  if (inside === undefined) return [];
  const sockets = await listening(`${proc}/${inside}/net`, new Set(ports));
  if (sockets.size === 0) return [];
  const found: string[] = [];
  for (const { pid, cgroup } of processes) {
    for (const inode of await socketsOf(`${proc}/${pid}/fd`)) {
      const port = sockets.get(inode);
      if (port === undefined) continue;
      sockets.delete(inode);
      found.push(`port ${port} (TCP): ${await processText(proc, pid, cgroup, pods)}`);
    }
    if (sockets.size === 0) break;
  }
  return found;
}

async function processText(proc: string, pid: string, cgroup: string, pods: readonly Pod[]): Promise<string> {
  const name = await commandOf(proc, pid);
  const owner = pods.find((pod) => isOf({ pid, cgroup }, pod));
  if (owner === undefined) return `the process ${name} (pid ${pid}) of this machine`;
  const container = containersOf(owner).find(({ status }) => {
    const id = status?.containerID?.split("://")[1];
    return id !== undefined && id !== "" && cgroup.includes(id);
  });
  const where = container === undefined ? "" : `container ${container.container.name} of `;
  return `the process ${name} (pid ${pid}), ${where}pod ${fullName(owner)}`;
}

/** Inodes of sockets that listen on one of the ports. */
async function listening(net: string, ports: ReadonlySet<number>): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (const table of ["tcp", "tcp6"]) {
    for (const line of (await textOf(`${net}/${table}`)).split("\n").slice(1)) {
      const [, local = "", , state, , , , , , inode = ""] = line.trim().split(/\s+/);
      const port = parseInt(local.slice(local.lastIndexOf(":") + 1), 16);
      if (state === LISTEN && ports.has(port)) found.set(inode, port);
    }
  }
  return found;
}

async function socketsOf(directory: string): Promise<string[]> {
  const names = await orNone(readdir(directory), []);
  const targets = await Promise.all(names.map((name) => orNone(readlink(`${directory}/${name}`), "")));
  return targets.flatMap((target) => /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? []);
}
