// The service account that a pod runs as, in its namespace.

import type { Pod } from "../../shared/kubernetes/api/pod.js";

export function serviceAccountOf({ spec }: Pod): string {
  const { serviceAccountName = "" } = spec;
  return serviceAccountName === "" ? "default" : serviceAccountName;
}
