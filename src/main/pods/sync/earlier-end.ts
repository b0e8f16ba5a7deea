// The result of a termination by an earlier kubelet process, from the pod's record and its phase in the API. Pure.

import { type SteadyTime, later } from "../../../shared/base/clock/moments.js";
import type { PodPhase } from "../../../shared/kubernetes/api/pod-status.js";
import { isFinalPhase } from "../../model/phase.js";
import type { PodEnd } from "../../model/synced-pod.js";
import { effectiveGraceSeconds } from "../planner/plan-termination.js";
import type { PodRecord } from "./pod-record.js";

/**
 * `terminated`: the pod was terminated completely. undefined: no earlier kubelet terminated it.
 */
export function earlierEnd(
  { failure, finalStatus, pod }: Partial<PodRecord> = {},
  apiPhase: PodPhase | undefined,
  now: SteadyTime,
): { end: PodEnd; terminated: boolean } | undefined {
  const terminated = finalStatus !== undefined;
  if (!terminated && isFinalPhase(apiPhase)) {
    return { end: { cause: "completed", deadline: later(now, effectiveGraceSeconds(pod) * 1000) }, terminated: true };
  }
  if (failure !== undefined) {
    const { deadline, ...what } = failure;
    return { end: { cause: "failed", failure: what, deadline }, terminated };
  }
  return terminated ? { end: { cause: "completed", deadline: now }, terminated } : undefined;
}
