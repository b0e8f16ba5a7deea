// The planner: the next steps for a pod that should run, from its definition and the runtime's state.
// Pure. It converges: after its steps succeeded, the next plan has fewer steps, and none once the pod matches its
// definition.

import { later } from "../../../shared/base/clock/moments.js";
import { containerNamed } from "../../../shared/kubernetes/api/per-spec.js";
import { containersOf } from "../../../shared/kubernetes/api/pod-containers.js";
import { type Container } from "../../../shared/kubernetes/api/pod.js";
import { ContainerState } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { ObservedSandbox } from "../../../shared/kubernetes/cri/observed-pod.js";
import { graceSeconds, secondsLeft } from "../../model/container-stop.js";
import { isAlive, newestOf, newestIn } from "../../model/observed-containers.js";
import { needsNewSandbox } from "../../model/sandbox-need.js";
import type { Plan } from "../../model/step.js";
import { killReason } from "./kill-reason.js";
import { PlanBuilder } from "./plan-builder.js";
import { startReason, type PlanInput } from "./plan-context.js";
import { planInit } from "./plan-init.js";
import { planResize } from "./plan-resize.js";
import { planRestartAll, restartAllTrigger } from "./plan-restart-all.js";
import { planNewSandbox } from "./plan-sandbox.js";
import { preStopsAhead } from "./pre-stops-ahead.js";
import { pruneSteps } from "./prune-steps.js";
import { stopOrder, stopsAtOnce } from "./stop-order.js";

export function planPod(input: PlanInput): Plan {
  const builder = new PlanBuilder(input);
  const need = needsNewSandbox(input.pod, input.observed, input.cgroupLost);
  const current = input.observed.sandboxes[0];
  const usable = need.create ? undefined : current;
  const trigger = usable && restartAllTrigger(builder, usable);
  if (usable === undefined) planNewSandbox(builder, need);
  else if (trigger !== undefined) planRestartAll(builder, trigger);
  else planContainers(builder, usable);
  if (trigger === undefined) builder.plan.steps.push(...pruneSteps(input.observed, input.deadContainersKept));
  if (!builder.plan.finished) planRestartEvents(builder, trigger !== undefined);
  return builder.plan;
}

function planContainers(builder: PlanBuilder, sandbox: ObservedSandbox): void {
  planEphemeral(builder, sandbox);
  const init = planInit(builder, sandbox);
  if (init === "failed") {
    endPod(builder, sandbox, "an init container failed for good");
    return;
  }
  if (init === "waiting") {
    planResize(builder, sandbox);
    return;
  }
  killStrays(builder);
  planResize(builder, sandbox);
  const kept = builder.input.pod.spec.containers.filter((container) => planRegular(builder, sandbox, container));
  if (kept.length === 0) endPod(builder, sandbox, "all containers have exited and none will start again");
}

/** Plans one regular container. Returns true if the container keeps the pod running. */
function planRegular(builder: PlanBuilder, sandbox: ObservedSandbox, container: Container): boolean {
  const { name } = container;
  const status = newestOf(builder.input.observed, name);
  if (status?.state === ContainerState.CONTAINER_RUNNING) {
    const kill = killReason(builder.input, container, status);
    if (kill === undefined) return true;
    const { why, restart, forResize, graceSeconds } = kill;
    const reason = `Container ${name} ${why}${restart && forResize === undefined ? ", will be restarted" : ""}`;
    builder.kill(status, reason, {
      graceSeconds,
      restart: restart || undefined,
      forResize: forResize || undefined,
    });
    return true;
  }
  if (!builder.mayStart(container, status)) return false;
  if (status?.state === ContainerState.CONTAINER_UNKNOWN) {
    builder.kill(status, `Container ${name} is in an unknown state, will be restarted`, { restart: true });
    return true;
  }
  builder.start({
    container,
    containerKind: "app",
    sandbox,
    previous: status,
    crashed: status,
    reason: startReason(status),
  });
  return true;
}

/** Kills running containers that the pod spec no longer defines. */
function killStrays(builder: PlanBuilder): void {
  const { spec } = builder.input.pod;
  for (const status of builder.input.observed.containers) {
    const name = status.metadata?.name ?? "";
    if (isAlive(status) && containerNamed(spec, name) === undefined)
      builder.kill(status, `Container ${name} is no longer in the pod's definition`);
  }
}

/** No container is kept and none is to start: sidecars and the sandbox stop too. */
function endPod(builder: PlanBuilder, sandbox: ObservedSandbox, reason: string): void {
  const { pod, observed, now } = builder.input;
  builder.drop();
  const running = observed.containers.filter(isAlive);
  // All containers share one grace period, which began with the first plan that terminated the pod.
  const deadline = builder.input.endDeadline ?? later(now, graceSeconds(pod) * 1000);
  const left = secondsLeft(deadline, now);
  const stops = stopOrder(pod, running, now >= deadline);
  for (const { status, after } of stops) builder.kill(status, reason, { graceSeconds: left, deadline, after });
  if (running.length > 0) builder.plan.endDeadline = deadline;
  builder.plan.steps.push(...preStopsAhead(pod, running, stopsAtOnce(stops), { deadline, reason }));
  if (running.length > 0) return;
  builder.plan.finished = true;
  builder.plan.steps.push({ kind: "stop-sandbox", sandboxId: sandbox.id, reason });
}

/** Reports restarts in progress to the status: by exit codes alone such containers would count as completed. */
function planRestartEvents({ input, plan }: PlanBuilder, active: boolean): void {
  const { pod, observed, memory } = input;
  const all = containersOf(pod.spec);
  const restarting = all.filter(({ name }) => {
    const newest = newestOf(observed, name);
    return newest !== undefined && memory.restarts(newest.id);
  });
  if (restarting.length > 0) plan.restarting = new Set(restarting.map(({ name }) => name));
  const removed = new Set([...memory.removed].filter((name) => newestOf(observed, name) === undefined));
  if (active || removed.size > 0) plan.restartingAll = { active, removed };
}

/**
 * Starts ephemeral containers: added to a running pod for debugging, started once, never restarted; no container waits
 * for them.
 */
function planEphemeral(builder: PlanBuilder, sandbox: ObservedSandbox): void {
  const { pod, observed } = builder.input;
  for (const container of pod.spec.ephemeralContainers ?? []) {
    const status = newestOf(observed, container.name);
    if (status !== undefined && status.state !== ContainerState.CONTAINER_CREATED) continue;
    const target = newestIn(sandbox, observed, container.targetContainerName ?? "");
    const targetContainerId = target?.state === ContainerState.CONTAINER_RUNNING ? target.id : undefined;
    builder.start({ container, containerKind: "ephemeral", sandbox, targetContainerId, reason: startReason(status) });
  }
}
