// The pleg thread as the sync path calls it.
import type { InspectRequest, WatchedPod } from "../../shared/contracts/pleg.js";

/** The pleg thread's interface for main. */
export interface PlegPort {
  inspect(request: InspectRequest): void;
  watch(pod: WatchedPod): void;
  unwatch(uid: string): void;
}
