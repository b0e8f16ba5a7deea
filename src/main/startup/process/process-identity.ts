// Names the process "kubelet" for ps -C, pidof, systemctl status and the journal's _COMM: the kernel would call it by its interpreter, "node",
// or by Node's main thread, "MainThread" (Node 24).
import { writeFileSync } from "node:fs";
import type { Logger } from "../../../shared/log/logger.js";

/**
 * Sets the process name in the kernel; the command line stays. A kernel that refuses changes nothing. Source:
 * proc_pid_comm(5).
 */
export function nameProcess(name: string, path = "/proc/self/comm"): void {
  try {
    writeFileSync(path, name);
  } catch {
    // Without /proc there is no reader of the name either.
  }
}

// A kubelet without root starts, so that people can try it, and logs at once which features will not work.

/** Warns when `uid` is not 0. Returns whether the process is root. */
export function checkPermissions(uid: number | undefined, log: Pick<Logger, "warn">): boolean {
  if (uid === 0 || uid === undefined) return true;
  log.warn(
    { uid },
    `the kubelet runs as uid ${uid}, not as root: making cgroups, mounting memory volumes, reading pods' files and ` +
      `logs, setting OOM scores and resource limits will fail where the kernel refuses; run it as root`,
  );
  return false;
}
