// Removals while a pod lives: dead containers but the newest of a name, leftovers that never started, and dead sandboxes
// once nothing of them is kept. What a dead container tells (exit 0, lastState, that it ran at all) must not be lost.
import { ContainerState, PodSandboxState, type ContainerStatus } from "../../shared/cri/gen/runtime.v1.js";
import type { ObservedPod } from "../../shared/cri/observed-pod.js";
import type { Step } from "./step.js";

export function pruneSteps(observed: ObservedPod): Step[] {
  const steps: Step[] = [];
  const keptNames = new Set<string>();
  const kept: ContainerStatus[] = [];
  for (const status of observed.containers) {
    const name = status.metadata?.name ?? "";
    const dead = status.state === ContainerState.CONTAINER_EXITED;
    const leftover = status.state === ContainerState.CONTAINER_CREATED;
    // One finished container of a name is lastState; a second one is history.
    if (leftover || (dead && keptNames.has(name))) {
      steps.push({ kind: "remove-container", containerId: status.id, name });
    } else kept.push(status);
    if (dead) keptNames.add(name);
  }
  const homes = new Set(kept.map((status) => homeOf(observed, status)));
  for (const { id, state } of observed.sandboxes.slice(1)) {
    if (state !== PodSandboxState.SANDBOX_READY && !homes.has(id))
      steps.push({ kind: "remove-sandbox", sandboxId: id });
  }
  return steps;
}

/** CRI does not say in which sandbox a container is: it is the newest that was there when the container was made. */
function homeOf({ sandboxes }: ObservedPod, status: ContainerStatus): string | undefined {
  return sandboxes.find(({ createdAt }) => createdAt <= status.createdAt)?.id;
}
