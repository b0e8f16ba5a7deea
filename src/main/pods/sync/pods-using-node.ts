// Pods that use the node's resources: admitted ones, until no container of them runs.

import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodWorkerState } from "../../model/synced-pod.js";

/** A pod that terminates uses the node until it has. */
const USES_NODE: ReadonlySet<PodWorkerState> = new Set(["syncing", "ending", "terminating"]);

/** `desired` is absent for pods that no source desires; they are not listed. */
export function podsUsingNode(workers: Iterable<{ desired: Pod | undefined; state: PodWorkerState }>): Pod[] {
  return [...workers].flatMap(({ desired, state }) => (desired !== undefined && USES_NODE.has(state) ? [desired] : []));
}
