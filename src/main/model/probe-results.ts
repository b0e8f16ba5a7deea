// The last probe results of containers. Keys are runtime container ids: a new container starts without results.
// Read by the planner (restarts, the gate after a sidecar's startup probe) and by the status computation alike.

import type { ContainerId } from "../../shared/kubernetes/identifiers.js";

/** @internal */
export type ProbeResult = "Success" | "Failure";

export interface ProbeResults {
  /** Undefined: no result yet (the initial value of startup is Unknown). */
  startup(containerId: ContainerId): ProbeResult | undefined;
  /** Undefined: no result yet. It counts as Failure, unless an earlier kubelet process recorded a result. */
  readiness(containerId: ContainerId): ProbeResult | undefined;
  /** Undefined: no result yet (counts as Success). */
  liveness(containerId: ContainerId): ProbeResult | undefined;
}

/** For a node whose probes do not run: initial results only. */
export const noProbeResults: ProbeResults = {
  startup: () => undefined,
  readiness: () => undefined,
  liveness: () => undefined,
};
