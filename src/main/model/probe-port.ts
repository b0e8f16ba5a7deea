// The prober as the sync path uses it: latest probe results in, pods to probe out.
import type { Pod } from "../../shared/api/pod.js";
import type { ObservedPod } from "../../shared/cri/observed-pod.js";
import { type ProbeResults } from "./probe-results.js";

/** Liveness and startup end with `terminating`, readiness when the containers have stopped. */
export type ProbedPodState = "syncing" | "finished" | "terminating";

export interface ProbePort {
  readonly results: ProbeResults;
  /** The pod was looked at: its running containers are probed from now on, others no more. Cheap when nothing changed. */
  podSynced(pod: Pod, observed: ObservedPod, state: ProbedPodState): void;
  podGone(uid: string): void;
}
