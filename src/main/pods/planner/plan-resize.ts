// Running containers whose CPU and memory differ from their allocation, and the way they get it. They get it in place,
// or by a restart if their resizePolicy requires one
// (https://kubernetes.io/docs/tasks/configure-pod-container/resize-container-resources/).

import { containersOf } from "../../../shared/kubernetes/api/pod-containers.js";
import { isPositive } from "../../../shared/kubernetes/api/pod-requests.js";
import { isSidecar, type Container } from "../../../shared/kubernetes/api/pod.js";
import { ContainerState } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { ObservedContainer, ObservedSandbox } from "../../../shared/kubernetes/cri/observed-pod.js";
import { newestIn, newestOf } from "../../model/observed-containers.js";
import { changedResources } from "../../model/pod-resources.js";
import type { ResizedContainer } from "../../model/step.js";
import { killReason } from "./kill-reason.js";
import type { PlanBuilder } from "./plan-builder.js";
import { type PlanInput } from "./plan-context.js";
import { resizeChanges } from "./resize-changes.js";

/** Plans what can be done in place. Containers that are being stopped get their values at the next start. */
export function planResize(builder: PlanBuilder, sandbox: ObservedSandbox): void {
  const { input, plan } = builder;
  const { pod, resize, now } = input;
  if (resize === undefined) return;
  if (awaitsRestart(input)) plan.resizing = true;
  const running = runningOf(input, sandbox);
  if (running.length === 0) return;
  const podChanges = resize.actuated === undefined ? [] : changedResources(resize.actuated.pod, pod.spec.resources);
  const containers: ResizedContainer[] = [];
  for (const { container, status, restarts } of running) {
    const changes = resizeChanges(input, container);
    const known = changes !== undefined;
    if (known && changes.length > 0) plan.resizing = true;
    const follows = podChanges.some((name) => !isPositive(container.resources?.limits, name));
    if (known && changes.length === 0 && !follows) continue;
    if (restarts && killReason(input, container, status) !== undefined) continue;
    containers.push({ container, containerId: status.id });
  }
  if (podChanges.length > 0) plan.resizing = true;
  if (containers.length === 0 && podChanges.length === 0) return;
  if (resize.retryAt !== undefined && resize.retryAt > now) {
    builder.wakeAt(resize.retryAt);
    return;
  }
  const reason = plan.resizing ? "other resources are allocated to it" : "its actual resources are not known";
  plan.steps.push({ kind: "resize-containers", sandboxId: sandbox.id, containers, actuated: resize.actuated, reason });
}

/**
 * True if a container was stopped to get its new values. A new limit of the pod may be in force before it has started
 * again.
 */
function awaitsRestart(input: PlanInput): boolean {
  const { pod, observed, memory } = input;
  return containersOf(pod.spec).some((container) => {
    const status = newestOf(observed, container.name);
    if (status === undefined || !memory.restarts(status.id)) return false;
    return memory.resizes(status.id) || (resizeChanges(input, container) ?? []).length > 0;
  });
}

interface Running {
  container: Container;
  status: ObservedContainer;
  /** An ordinary init container is never resized, with any resizePolicy. */
  restarts: boolean;
}

function runningOf({ pod, observed }: PlanInput, sandbox: ObservedSandbox): Running[] {
  const { containers, initContainers = [] } = pod.spec;
  const running = (list: readonly Container[], restarts: (container: Container) => boolean): Running[] =>
    list.flatMap((container) => {
      const status = newestIn(sandbox, observed, container.name);
      if (status?.state !== ContainerState.CONTAINER_RUNNING) return [];
      return [{ container, status, restarts: restarts(container) }];
    });
  return [...running(initContainers, isSidecar), ...running(containers, () => true)];
}
