// The restart rule RestartAllContainers. Every container of the pod is stopped and removed, and the sandbox stays. Then
// the pod starts again with its first init container. Invariant: the container whose exit fired the rule is removed
// last, so that another kubelet can continue; until then no container starts.

import { containersOf } from "../../../shared/kubernetes/api/pod-containers.js";
import { type Container } from "../../../shared/kubernetes/api/pod.js";
import { ContainerState } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { ObservedContainer, ObservedSandbox } from "../../../shared/kubernetes/cri/observed-pod.js";
import { isAlive, newestIn } from "../../model/observed-containers.js";
import { asksRestartAll } from "../../model/restart.js";
import type { RemoveContainerStep } from "../../model/step.js";
import type { PlanBuilder } from "./plan-builder.js";
import { stopOrder } from "./stop-order.js";

export interface RestartAllTrigger {
  container: Container;
  status: ObservedContainer;
}

/** The container whose exit triggers a restart of all containers. */
export function restartAllTrigger(builder: PlanBuilder, sandbox: ObservedSandbox): RestartAllTrigger | undefined {
  const { pod, observed, gates, memory } = builder.input;
  if (pod.metadata.deletionTimestamp !== undefined) return undefined;
  for (const container of containersOf(pod.spec)) {
    const status = newestIn(sandbox, observed, container.name);
    // The rules apply to a container's own exit: a container stopped for a restart is just restarted.
    if (status?.state !== ContainerState.CONTAINER_EXITED || memory.restarts(status.id)) continue;
    if (asksRestartAll(container, status.exitCode, gates)) return { container, status };
  }
  return undefined;
}

export function planRestartAll(builder: PlanBuilder, { container, status: fired }: RestartAllTrigger): void {
  const { pod, observed } = builder.input;
  const running = observed.containers.filter(isAlive);
  const reason = `container ${container.name} exited with ${fired.exitCode}, all containers are restarted`;
  for (const { status, after } of stopOrder(pod, running)) {
    builder.kill(status, reason, { withoutPreStop: true, after });
  }
  if (running.length > 0) return;
  // An ephemeral container starts only once: its exited container proves that it did.
  const once = new Set((pod.spec.ephemeralContainers ?? []).map(({ name }) => name));
  const others = observed.containers.filter(({ id, metadata }) => id !== fired.id && !once.has(metadata?.name ?? ""));
  builder.plan.steps.push(...others.map(removal));
  const waits = builder.backsOff(container, fired);
  if (waits || others.length > 0) return;
  const backoff = builder.backoffStep(container, fired);
  builder.plan.steps.push({ ...removal(fired), backoff });
}

function removal(status: ObservedContainer): RemoveContainerStep {
  return {
    kind: "remove-container",
    containerId: status.id,
    name: status.metadata?.name ?? "",
    restartAll: true,
  };
}
