// The operation as which one pass of a pod worker counts (label operation_type of kubelet_pod_worker_duration_seconds).

import type { PodWorkerState, WorkerOperation } from "../../model/synced-pod.js";

/** @param news the cause of the pass; counts only before the pod terminates */
export function operationOf(state: PodWorkerState, news: "create" | "update" | "sync"): WorkerOperation {
  switch (state) {
    case "admitting":
    case "syncing":
      return news;
    case "ending":
    case "terminating":
      return "kill";
    case "finished":
    case "terminated":
      return "terminated";
  }
}
