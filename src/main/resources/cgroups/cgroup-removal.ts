// Removal of one cgroup with all below it. Processes inside are logged by name and killed. If a process does not exit,
// its cgroup remains, and the error names the process.

import type { Clock } from "../../../shared/base/clock/clock.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { toCgroupfs, type CgroupName } from "../../../shared/node/cgroup/name.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { cgroupBusyError } from "./cgroup-errors.js";
import { readValue } from "./cgroup-files.js";
import type { CgroupTree } from "./cgroup-tree.js";
/** Tries, and the pause before the second one; it doubles up to the cap. Together 3.8 s. */
const TRIES = 14;
const PAUSE_MS = 5;
const PAUSE_CAP_MS = 500;

/** @param uid of the pod it was, for the log. @throws OperatorError */
export async function removeCgroup(
  tree: CgroupTree,
  name: CgroupName,
  uid: PodUid | undefined,
  { clock, log }: { clock: Clock; log: Logger },
): Promise<void> {
  let pause = PAUSE_MS;
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    if (await tree.remove(name)) return;
    const pids = await tree.processes(name);
    if (pids.length > 0) {
      const processes = await describeProcesses(pids);
      log.warn({ uid, cgroup: toCgroupfs(name), processes }, "killing the remaining processes of a cgroup");
      await tree.kill(name, pids);
    }
    await clock.sleep(pause);
    pause = Math.min(2 * pause, PAUSE_CAP_MS);
  }
  const left = await describeProcesses(await tree.processes(name));
  throw cgroupBusyError(toCgroupfs(name), TRIES, new Error(`inside: ${left.join(", ") || "no process seen"}`));
}

// Names of processes, so that a log line about a killed process names it.
const SHOWN = 20;

/** "1234 (sleep)" for the first 20; a process that has exited meanwhile is "1234 (exited)". */
async function describeProcesses(pids: readonly number[]): Promise<string[]> {
  const shown = await Promise.all(
    pids
      .slice(0, SHOWN)
      .map(async (pid) => `${pid} (${(await readValue(`/proc/${pid}/comm`).catch(() => undefined)) ?? "exited"})`),
  );
  return pids.length > SHOWN ? [...shown, `and ${pids.length - SHOWN} more`] : shown;
}
