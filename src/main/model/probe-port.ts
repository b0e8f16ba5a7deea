// Two ports: the latest probe results for the planner and the status, and the prober thread for the probe manager.
import type { ProbedPod } from "../../shared/contracts/prober.js";

/** Liveness and startup end with `terminating`, readiness when the containers have stopped. */
export type ProbedPodState = "syncing" | "finished" | "terminating";

// The last probe results of containers. Keys are runtime container ids: a new container starts without results.
// Read by the planner (restarts, the gate after a sidecar's startup probe) and by the status computation alike.

/** @internal */
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
  podRemoved(uid: string): void;
}
