// The interfaces of probes: latest results for the sync path and the status, pods to probe, and the prober thread.
import type { Pod } from "../../shared/api/pod.js";
import type { ObservedPod } from "../../shared/cri/observed-pod.js";
import type { ProbedPod } from "../../shared/contracts/prober.js";

/** Liveness and startup end with `terminating`, readiness when the containers have stopped. */
export type ProbedPodState = "syncing" | "finished" | "terminating";

export interface ProbePort {
  readonly results: ProbeResults;
  /**
   * The pod was observed: its running containers are probed from now on, others not any more. Cheap if nothing changed.
   */
  podSynced(pod: Pod, observed: ObservedPod, state: ProbedPodState): void;
  podGone(uid: string): void;
}

// The last probe results of containers. Keys are runtime container ids: a new container starts without results.
// Read by the planner (restarts, the gate after a sidecar's startup probe) and by the status computation alike.

export type ProbeResult = "Success" | "Failure";

export interface ProbeResults {
  /** Undefined: no result yet (the initial value of startup is Unknown). */
  startup(containerId: string): ProbeResult | undefined;
  /** Undefined: no result yet. It counts as Failure, unless an earlier kubelet process recorded a result. */
  readiness(containerId: string): ProbeResult | undefined;
  /** Undefined: no result yet (counts as Success). */
  liveness(containerId: string): ProbeResult | undefined;
}

/** For a node whose probes do not run: initial results only. */
export const noProbeResults: ProbeResults = {
  startup: () => undefined,
  readiness: () => undefined,
  liveness: () => undefined,
};

// The prober thread as the probe manager calls it.

/** The prober thread's interface for main. */
export interface ProberPort {
  /** The pod's whole set; replaces the one before. */
  setPod(pod: ProbedPod): void;
  /** The pod will not come back. */
  podGone(uid: string): void;
}
