// A pod whose sandbox can't be used any more: remaining containers stop; then a new sandbox is created, if a container
// will run in it.

import { ContainerState } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import { isAlive, newestOf, readySandboxes } from "../../model/observed-containers.js";
import { restartPossible } from "../../model/restart.js";
import { type SandboxNeed, type SandboxNeedReason } from "../../model/sandbox-need.js";
import type { PlanBuilder } from "./plan-builder.js";
import { stopOrder } from "./stop-order.js";

const REASONS: Readonly<Record<SandboxNeedReason, string>> = {
  Current: "the sandbox is current",
  NoSandbox: "the pod has no sandbox",
  SeveralReady: "several sandboxes are ready at once",
  NewestNotReady: "the sandbox is no longer ready",
  NetworkNamespaceChanged: "the network namespace of the pod changed",
  NoAddress: "the sandbox has lost its address",
  CgroupLost: "the pod's cgroup is missing",
};

export function planNewSandbox(builder: PlanBuilder, need: SandboxNeed): void {
  const { pod, observed } = builder.input;
  const reason = REASONS[need.reason];
  const running = observed.containers.filter(isAlive);
  // A container that exits only because of its sandbox starts again in the next one, with every exit code.
  for (const { status, after } of stopOrder(pod, running)) builder.kill(status, reason, { restart: true, after });
  if (running.length > 0) return;
  const ready = readySandboxes(observed.sandboxes);
  for (const { id } of ready) builder.plan.steps.push({ kind: "stop-sandbox", sandboxId: id, reason });
  if (ready.length > 0) return;
  if (isOver(builder, need.attempt)) {
    builder.plan.finished = true;
    return;
  }
  builder.plan.steps.push({ kind: "create-sandbox", attempt: need.attempt, reason });
  if (need.attempt > 0) {
    builder.plan.events.push({
      key: `SandboxChanged ${need.attempt}`,
      event: {
        type: "Normal",
        reason: "SandboxChanged",
        message: "Pod sandbox changed, it will be killed and re-created.",
      },
    });
  }
}

/** No container of the pod would run in another sandbox. */
function isOver(builder: PlanBuilder, attempt: number): boolean {
  const { pod, observed, gates } = builder.input;
  const ran = observed.containers.filter(({ state }) => state !== ContainerState.CONTAINER_CREATED);
  if (attempt > 0 && ran.length > 0 && !restartPossible(pod.spec, gates)) return true;
  const regular = pod.spec.containers.map((container) => ({ container, status: newestOf(observed, container.name) }));
  const startable = regular.some(({ container, status }) => builder.mayStart(container, status));
  if (!startable && regular.some(({ status }) => status !== undefined)) return true;
  return initFailedForGood(builder);
}

/** An init container failed and may not run again. */
function initFailedForGood(builder: PlanBuilder): boolean {
  const { pod, observed } = builder.input;
  return (pod.spec.initContainers ?? []).some((init) => {
    const status = newestOf(observed, init.name);
    const failed = status?.state === ContainerState.CONTAINER_EXITED && status.exitCode !== 0;
    return failed && !builder.mayStart(init, status);
  });
}
