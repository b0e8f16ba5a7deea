// The order in which the containers of a pod stop. Sidecars stop after all others, one by one, the last of the spec first. After the grace
// period no container waits for its turn.
import { isSidecar, type Pod } from "../../shared/api/pod.js";
import { type ContainerStatus, ContainerState } from "../../shared/cri/gen/runtime.v1.js";
import type { PreStopStep } from "../model/step.js";

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

// Sidecars stop last, but their preStop hooks start as soon as the pod terminates. So a proxy can drain connections while the app
// containers still run. Pure.

/** Hooks of the sidecars that run and do not stop yet. */
export function preStopsAhead(
  pod: Pod | undefined,
  alive: readonly ContainerStatus[],
  stopping: readonly ContainerStatus[],
  { deadline, reason }: Pick<PreStopStep, "deadline" | "reason">,
): PreStopStep[] {
  const hooked = new Set(
    (pod?.spec.initContainers ?? [])
      .filter(({ lifecycle }) => lifecycle?.preStop !== undefined)
      .map(({ name }) => name),
  );
  if (hooked.size === 0) return [];
  const stops = new Set(stopping);
  return alive
    .filter((status) => status.state === ContainerState.CONTAINER_RUNNING && !stops.has(status))
    .map((status) => ({ containerId: status.id, name: status.metadata?.name ?? "" }))
    .filter(({ name }) => hooked.has(name))
    .map((container) => ({ kind: "run-pre-stop", ...container, deadline, reason }));
}
