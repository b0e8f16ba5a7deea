// Sidecars stop last, but their preStop hooks start as soon as the pod terminates. So a proxy can drain connections
// while the app containers still run. Pure.

import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { ContainerState } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { ObservedContainer } from "../../../shared/kubernetes/cri/observed-pod.js";
import type { PreStopStep } from "../../model/step.js";

/** Hooks of the sidecars that run and do not stop yet. */
export function preStopsAhead(
  pod: Pod | undefined,
  alive: readonly ObservedContainer[],
  stopping: readonly ObservedContainer[],
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
