// Names the process "kubelet" for ps -C, pidof, systemctl status and the journal's _COMM. The kernel would call it by
// its interpreter, "node", or by Node's main thread, "MainThread" (Node 24).

import { writeFileSync } from "fs";

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
