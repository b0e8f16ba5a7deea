// Removals while a pod runs: old exited containers of each name, containers that never started, old empty sandboxes.
// The facts of an exited container (exit code 0, lastState, that it ran) must not be lost.

import { ContainerState, PodSandboxState } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { ObservedPod, ObservedContainer } from "../../../shared/kubernetes/cri/observed-pod.js";
import { failedStartsBesideRuns } from "../../model/failed-starts.js";
import { removableLog } from "../../model/removed-logs.js";
import type { Step } from "../../model/step.js";

/** `deadKept` exited containers of a name stay, one at least; negative: all. */
export function pruneSteps(observed: ObservedPod, deadKept = 1): Step[] {
  const removed: ObservedContainer[] = [];
  const most = deadKept < 0 ? Infinity : Math.max(deadKept, 1);
  const dead = new Map<string, number>();
  const kept: ObservedContainer[] = [];
  const failedStarts = failedStartsBesideRuns(observed.containers);
  const started = namesOfStarted(observed);
  const seen = new Set<string>();
  for (const status of observed.containers) {
    const name = status.metadata?.name ?? "";
    const isNewest = !seen.has(name);
    seen.add(name);
    const count = dead.get(name) ?? 0;
    const isDead = status.state === ContainerState.CONTAINER_EXITED;
    // The number of the next run follows the newest one, which stays for it, also if it never ran.
    const isLast = isNewest && !started.has(name);
    const leftover =
      (status.state === ContainerState.CONTAINER_CREATED && !isLast) || (failedStarts.has(status) && !isNewest);
    // One exited container of a name provides lastState; more are history, kept as the operator configures.
    if (leftover || (isDead && count >= most)) removed.push(status);
    else kept.push(status);
    if (isDead && !failedStarts.has(status)) dead.set(name, count + 1);
  }
  const steps: Step[] = removed.map((status) => ({
    kind: "remove-container",
    containerId: status.id,
    name: status.metadata?.name ?? "",
    logsOfRun: removableLog(status, kept),
  }));
  const homes = new Set(kept.map((status) => homeOf(observed, status)));
  for (const { id, state } of observed.sandboxes.slice(1)) {
    if (state !== PodSandboxState.SANDBOX_READY && !homes.has(id))
      steps.push({ kind: "remove-sandbox", sandboxId: id });
  }
  return steps;
}

function namesOfStarted({ containers }: ObservedPod): Set<string> {
  const started = containers.filter(({ state }) => state !== ContainerState.CONTAINER_CREATED);
  return new Set(started.map(({ metadata }) => metadata?.name ?? ""));
}

/** CRI does not report the sandbox of a container. It is the newest one that existed when the container was created. */
function homeOf({ sandboxes }: ObservedPod, status: ObservedContainer): string | undefined {
  return sandboxes.find(({ createdAt }) => createdAt <= status.createdAt)?.id;
}
