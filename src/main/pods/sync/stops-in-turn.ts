// Stops of sidecars, one after the other, in one pass: a pass and an inspection read the whole pod, so one of each for
// every stop would be quadratic work in a pod of hundreds of sidecars.
// Invariant: no stop begins before the one ahead of it has succeeded, or after the end of the grace period. The pass
// ends within its share of time, or with the stop that exceeds it, so that the pod's status follows.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { secondsLeft } from "../../model/container-stop.js";
import type { KillContainerStep } from "../../model/step.js";

/** Time for the stops of one pass: at least this, and more in a pod whose observation takes longer. */
const SHARE_MS = 1000;
const SHARE_OF_CONTAINER_MS = 2;

/**
 * Runs `stop` for each step, with the rest of the grace period. It rejects with the first failure. Steps that are left
 * belong to the next plan.
 * @param containers number of the pod's containers
 */
export async function stopInTurn(
  steps: readonly KillContainerStep[],
  containers: number,
  clock: Pick<Clock, "monotonic" | "steady">,
  stop: (step: KillContainerStep) => Promise<void>,
): Promise<void> {
  const begun = clock.monotonic();
  const shareMs = Math.max(SHARE_MS, containers * SHARE_OF_CONTAINER_MS);
  for (const step of steps) {
    const now = clock.steady();
    if (now >= step.deadline || clock.monotonic() - begun >= shareMs) return;
    await stop({ ...step, graceSeconds: secondsLeft(step.deadline, now) });
  }
}
