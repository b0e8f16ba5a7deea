// Removals while a pod runs: exited containers except the newest few of a name, containers that never started, and old
// sandboxes without containers. The facts of an exited container (exit code 0, lastState, that it ran) must not be lost.
import { ContainerState, PodSandboxState, type ContainerStatus } from "../../shared/cri/gen/runtime.v1.js";
import type { ObservedPod } from "../../shared/cri/observed-pod.js";
import { failedStartsBesideRuns } from "../model/failed-starts.js";
import type { Step } from "../model/step.js";

/** `deadKept` of a name stay, one at least; negative: all. */
export function pruneSteps(observed: ObservedPod, deadKept = 1): Step[] {
  const steps: Step[] = [];
  const most = deadKept < 0 ? Infinity : Math.max(deadKept, 1);
  const dead = new Map<string, number>();
  const kept: ContainerStatus[] = [];
  const failedStarts = failedStartsBesideRuns(observed.containers);
  const seen = new Set<string>();
  for (const status of observed.containers) {
    const name = status.metadata?.name ?? "";
    const isNewest = !seen.has(name);
    seen.add(name);
    const count = dead.get(name) ?? 0;
    const isDead = status.state === ContainerState.CONTAINER_EXITED;
    const leftover = status.state === ContainerState.CONTAINER_CREATED || (failedStarts.has(status) && !isNewest);
    // One finished container of a name is lastState; more are history, kept where the operator wants it.
    if (leftover || (isDead && count >= most)) {
      steps.push({ kind: "remove-container", containerId: status.id, name });
    } else kept.push(status);
    if (isDead && !failedStarts.has(status)) dead.set(name, count + 1);
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
