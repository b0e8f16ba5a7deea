// A pod that ended for a shutdown runs again after the boot if the API server has not heard of its end. The machine is
// off a moment after the last pod has ended, so the kubelet waits for the answer, but not for a server that is away.

import type { Clock } from "../../../shared/base/clock/clock.js";
import type { PodPhase } from "../../../shared/kubernetes/api/pod-status.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { isFinalPhase } from "../../model/phase.js";

const TRIES = 20;
const PAUSE_MS = 50;

export interface ReportedEndDeps {
  /** Phase of the pod's object in the API; undefined: it has none under this UID, as a static pod. */
  phaseInApi: (uid: PodUid) => PodPhase | undefined;
  clock: Pick<Clock, "sleep">;
}

/** Resolves when the API server has the pod's final phase, at most a second later. */
export async function whenEndIsReported(uid: PodUid, { phaseInApi, clock }: ReportedEndDeps): Promise<void> {
  for (let left = TRIES; left > 0; left--) {
    const phase = phaseInApi(uid);
    if (phase === undefined || isFinalPhase(phase)) return;
    await clock.sleep(PAUSE_MS);
  }
}
