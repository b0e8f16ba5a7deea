// The prober thread as the probe manager calls it.

import type { ProbedPod } from "../../shared/contracts/prober.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";

/** The prober thread's interface for main. */
export interface ProberPort {
  /** The pod's whole set; replaces the one before. */
  setPod(pod: ProbedPod): void;
  /** The pod will not come back. */
  podRemoved(uid: PodUid): void;
}
