// SIGKILL to processes found in a pod's cgroup.

/**
 * Processes that have already exited are no error; the kubelet itself and init are never killed, even if a cgroup file
 * contains.
 */
export function killAll(pids: readonly number[]): void {
  for (const pid of pids) {
    if (pid <= 1 || pid === process.pid) continue;
    try {
      process.kill(pid, "SIGKILL");
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
    }
  }
}
