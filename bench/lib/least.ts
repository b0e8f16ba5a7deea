// The least possible cost of the start and the end of a pod with one container, and the reasons of higher costs.

export interface Least {
  start: number;
  end: number;
  /** Why the kubelet does this, and what makes it more than the least. */
  reason: string;
}

const relist = { start: 0, end: 0, reason: "relists find what no inspection of a pod reports" };
const status = { start: 0, end: 0, reason: "the runtime's own state, read at intervals" };

/** By the label of the row. */
export const LEAST: ReadonlyMap<string, Least> = new Map(
  Object.entries({
    "CRI RunPodSandbox": { start: 1, end: 0, reason: "the sandbox" },
    "CRI CreateContainer": { start: 1, end: 0, reason: "the container" },
    "CRI StartContainer": { start: 1, end: 0, reason: "the container's process" },
    "CRI ImageStatus": { start: 1, end: 0, reason: "images may have been removed: checked for each container" },
    "CRI PodSandboxStatus": {
      start: 1,
      end: 1,
      reason: "the pod's IP is in no other response; the end of the sandbox",
    },
    "CRI ContainerStatus": { start: 1, end: 1, reason: "the start time and the exit code are in no other response" },
    "CRI ListPodSandbox": relist,
    "CRI ListContainers": relist,
    "CRI Version": status,
    "CRI Status": status,
    "CRI GetContainerEvents": { start: 0, end: 0, reason: "containerd 1.6 has none: tried again at intervals" },
    "CRI StopContainer": { start: 0, end: 1, reason: "SIGTERM, then SIGKILL" },
    "CRI StopPodSandbox": { start: 0, end: 1, reason: "the pod's network" },
    "CRI RemoveContainer": { start: 0, end: 0, reason: "RemovePodSandbox removes the containers of the sandbox" },
    "CRI RemovePodSandbox": { start: 0, end: 1, reason: "the sandbox of a deleted pod" },
    "API patch pods/status": {
      start: 1,
      end: 1,
      reason: "states that last longer than the API server's queue are shown",
    },
    "API delete pods": { start: 0, end: 1, reason: "the kubelet removes the object of a terminated pod" },
    "API create events": { start: 3, end: 1, reason: "Pulled, Created, Started; Killing" },
    "API create serviceaccounts/token": { start: 1, end: 0, reason: "the token of the pod's service account" },
    "API update leases": { start: 0, end: 0, reason: "the node's heartbeat" },
    "programs started": { start: 0, end: 0, reason: "none: the runtime starts the pod's processes" },
  }),
);
