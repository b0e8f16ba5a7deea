// Sidecars stop last, but their preStop hooks begin with the pod's end: a proxy is to know what is coming while there is
// still something to do for the others. Pure.
import type { Pod } from "../../shared/api/pod.js";
import { ContainerState, type ContainerStatus } from "../../shared/cri/gen/runtime.v1.js";
import type { PreStopStep } from "../model/step.js";

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
  return alive
    .filter((status) => status.state === ContainerState.CONTAINER_RUNNING && !stopping.includes(status))
    .map((status) => ({ containerId: status.id, name: status.metadata?.name ?? "" }))
    .filter(({ name }) => hooked.has(name))
    .map((container) => ({ kind: "run-pre-stop", ...container, deadline, reason }));
}
