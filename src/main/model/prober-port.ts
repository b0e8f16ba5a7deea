// The prober thread as the probe manager calls it.
import type { ProbedPod } from "../../shared/contracts/prober.js";

/** The prober thread as main sees it. */
export interface ProberPort {
  /** The pod's whole set; replaces the one before. */
  setPod(pod: ProbedPod): void;
  /** The pod will not come back. */
  podGone(uid: string): void;
}
