// The order in which the containers of a pod stop. Sidecars stop after all others, one by one, the last of the spec
// first. After the grace period no container waits for its turn.

import { isSidecar, type Pod } from "../../../shared/kubernetes/api/pod.js";
import { type ContainerStatus } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";

/** The running containers that stop now; the others follow after their exit. */
export function nextToStop(
  pod: Pod,
  running: readonly ContainerStatus[],
  graceOver = false,
): readonly ContainerStatus[] {
  if (graceOver) return running;
  const sidecars = (pod.spec.initContainers ?? []).filter(isSidecar);
  const places = new Map(sidecars.map(({ name }, index) => [name, index]));
  const place = (status: ContainerStatus): number => places.get(status.metadata?.name ?? "") ?? -1;
  const others = running.filter((status) => place(status) < 0);
  if (others.length > 0) return others;
  return running.toSorted((a, b) => place(b) - place(a)).slice(0, 1);
}
