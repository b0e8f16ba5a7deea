// The order in which the containers of a pod stop. Sidecars stop after all others, one by one, the last of the spec
// first. After the grace period no container waits for its turn.

import { isSidecar, type Pod } from "../../../shared/kubernetes/api/pod.js";
import type { ObservedContainer } from "../../../shared/kubernetes/cri/observed-pod.js";

/** A container to stop. */
export interface PlannedStop {
  readonly status: ObservedContainer;
  /** Name of the container that must have stopped before; undefined: it stops at once. */
  readonly after?: string;
}

/** The running containers that stop now, in order. Sidecars follow after the exit of all others. */
export function stopOrder(pod: Pod, running: readonly ObservedContainer[], graceOver = false): readonly PlannedStop[] {
  if (graceOver) return running.map((status) => ({ status }));
  const sidecars = (pod.spec.initContainers ?? []).filter(isSidecar);
  const places = new Map(sidecars.map(({ name }, index) => [name, index]));
  const place = (status: ObservedContainer): number => places.get(nameOf(status)) ?? -1;
  const others = running.filter((status) => place(status) < 0);
  if (others.length > 0) return others.map((status) => ({ status }));
  const order = running.toSorted((a, b) => place(b) - place(a));
  return order.map((status, at) => {
    const before = order[at - 1];
    return before === undefined ? { status } : { status, after: nameOf(before) };
  });
}

/** The containers that stop without waiting for another one. */
export function stopsAtOnce(stops: readonly PlannedStop[]): ObservedContainer[] {
  return stops.filter(({ after }) => after === undefined).map(({ status }) => status);
}

function nameOf(status: ObservedContainer): string {
  return status.metadata?.name ?? "";
}
