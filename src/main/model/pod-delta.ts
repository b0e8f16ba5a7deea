// Pods with their statuses, as main publishes them to the server thread.

import type { Pod } from "../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";

export interface PodDelta {
  set: Pod[];
  /** UIDs. */
  removed: PodUid[];
}
