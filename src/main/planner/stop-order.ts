// The order in which the containers of a pod stop: all others together, then sidecars one by one, the last of the spec
// first. After the grace period no container waits for its turn.
import { isSidecar, type Pod } from "../../shared/api/pod.js";
import type { ContainerStatus } from "../../shared/cri/gen/runtime.v1.js";

/** Those of the running containers that stop now; the others when these have ended. */
export function nextToStop(
  pod: Pod,
  running: readonly ContainerStatus[],
  graceOver = false,
): readonly ContainerStatus[] {
  if (graceOver) return running;
  const sidecars = (pod.spec.initContainers ?? []).filter(isSidecar).map(({ name }) => name);
  const place = (status: ContainerStatus): number => sidecars.indexOf(status.metadata?.name ?? "");
  const others = running.filter((status) => place(status) < 0);
  if (others.length > 0) return others;
  return running.toSorted((a, b) => place(b) - place(a)).slice(0, 1);
}
