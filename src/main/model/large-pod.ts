// Pods with many containers. Work on each of them takes main tens of milliseconds, so its pieces have rounds of the
// loop of their own.

import type { Pod } from "../../shared/kubernetes/api/pod.js";
import { isLong } from "./status-text.js";

export function isLargePod({ spec }: Pick<Pod, "spec">): boolean {
  return [spec.containers, spec.initContainers ?? [], spec.ephemeralContainers ?? []].some(isLong);
}
