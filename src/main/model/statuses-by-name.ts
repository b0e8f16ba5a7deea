// Container statuses by name. Phase, conditions and the next status look each container of the pod up in the same list.
// Invariant: a list of statuses never changes once a map was made of it.

import { oncePer } from "../../shared/base/objects/once-per.js";
import type { ApiContainerStatus } from "../../shared/kubernetes/api/pod-status.js";

type ByName = ReadonlyMap<string, ApiContainerStatus>;

/** The statuses as a map; the first of two with one name counts. */
export const statusesByName = oncePer((statuses: readonly ApiContainerStatus[]): ByName => {
  const made = new Map<string, ApiContainerStatus>();
  for (const status of statuses) if (!made.has(status.name)) made.set(status.name, status);
  return made;
});
