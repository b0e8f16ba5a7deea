// What the start and the end of one pod with one container may cost, in counts. A change that needs more raises a
// figure here, with its reason in the commit message. A change that needs less lowers it.

export interface AllowedCost {
  start: number;
  end: number;
}

/** By the label of the count; a count without a row must be zero. */
export const ALLOWED_COSTS: Readonly<Record<string, AllowedCost>> = {
  "API create events": { start: 3, end: 1 },
  "API create serviceaccounts/token": { start: 1, end: 0 },
  "API delete pods": { start: 0, end: 1 },
  "API patch pods/status": { start: 1, end: 1 },
  "CRI ContainerStatus": { start: 1, end: 1 },
  "CRI CreateContainer": { start: 1, end: 0 },
  "CRI ImageStatus": { start: 1, end: 0 },
  "CRI PodSandboxStatus": { start: 1, end: 1 },
  "CRI RemovePodSandbox": { start: 0, end: 1 },
  "CRI RunPodSandbox": { start: 1, end: 0 },
  "CRI StartContainer": { start: 1, end: 0 },
  "CRI StopContainer": { start: 0, end: 1 },
  "CRI StopPodSandbox": { start: 0, end: 1 },
  // On cgroup v1, which has a directory in each hierarchy.
  "file calls of main": { start: 65, end: 67 },
  "log bytes": { start: 1130, end: 1440 },
  "messages of main": { start: 7, end: 8 },
};

/** Work at intervals, which no single pod causes. */
export const AT_INTERVALS: ReadonlySet<string> = new Set([
  "CRI GetContainerEvents",
  "CRI ImageFsInfo",
  "CRI ListContainers",
  "CRI ListImages",
  "CRI ListPodSandbox",
  // The rotation of logs: the runtime in memory writes no log.
  "CRI ReopenContainerLog",
  "CRI Status",
  "CRI Version",
  "API create leases",
  "API get leases",
  "API get nodes",
  "API patch nodes/status",
  "API update leases",
]);
