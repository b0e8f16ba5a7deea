// Who keeps account of the pods that may use the node: eviction, and what pods have on disk. Nobody waits for an answer.
import type { Pod } from "../../shared/api/pod.js";
import type { PodWorker } from "./pod-worker.js";
import type { PodWorkerState } from "./pod-worker-port.js";

export interface PodFollower {
  /** The pod was admitted, or its definition changed; with the resources that it may use. */
  runs(pod: Pod): void;
  /** Nothing of the pod runs, and its volumes and cgroup are gone. Also told of pods that were never let in. */
  over(uid: string): void;
}

/** A pod that is being ended uses the node until it has. */
const MAY_RUN: ReadonlySet<PodWorkerState> = new Set(["syncing", "ending", "terminating"]);

/** What who begins to follow has missed. */
export function tellRunning(workers: Iterable<Pick<PodWorker, "desired" | "state">>, follower: PodFollower): void {
  for (const { desired, state } of workers) {
    if (desired !== undefined && MAY_RUN.has(state)) follower.runs(desired);
  }
}
