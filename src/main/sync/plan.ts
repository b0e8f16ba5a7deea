// The planner: what must be done next for a pod that should run, from its definition and what the runtime has.
// Pure. It converges: after its steps succeeded, planning again yields fewer, and none once the pod is as wanted.
import type { Pod } from "../../shared/api/pod.js";
import {
  ContainerState,
  PodSandboxState,
  type ContainerStatus,
  type PodSandboxStatus,
} from "../../shared/cri/gen/runtime.v1.js";
import { planInit } from "./plan-init.js";
import {
  definitionChanged,
  isAlive,
  newestOf,
  PlanBuilder,
  readySandboxes,
  startReason,
  type PlanInput,
} from "./plan-context.js";
import { mayStart } from "./restart.js";
import { needsNewSandbox, type SandboxNeedReason } from "./sandbox-need.js";
import type { Plan } from "./step.js";

/** Dead sandboxes kept beside the newest one: the one before it, whose containers give lastState. */
const KEPT_SANDBOXES = 2;

const SANDBOX_REASONS: Readonly<Record<SandboxNeedReason, string>> = {
  Current: "the sandbox is current",
  NoSandbox: "the pod has no sandbox",
  SeveralReady: "several sandboxes are ready at once",
  NewestNotReady: "the sandbox is no longer ready",
  NetworkNamespaceChanged: "the network namespace of the pod changed",
  NoAddress: "the sandbox has lost its address",
};

export function planPod(input: PlanInput): Plan {
  const builder = new PlanBuilder(input);
  const need = needsNewSandbox(input.pod, input.observed);
  const current = input.observed.sandboxes[0];
  if (need.create || current === undefined) planNewSandbox(builder, need.attempt, SANDBOX_REASONS[need.reason]);
  else planContainers(builder, current);
  prune(builder);
  return builder.plan;
}

/** Section 8.2: whatever is left of the pod goes first; then a sandbox, when something will run in it. */
function planNewSandbox(builder: PlanBuilder, attempt: number, reason: string): void {
  const { pod, observed } = builder.input;
  for (const status of observed.containers) if (isAlive(status)) builder.kill(status, reason);
  for (const sandbox of readySandboxes(observed.sandboxes)) {
    builder.plan.steps.push({ kind: "stop-sandbox", sandboxId: sandbox.id, reason });
  }
  if (builder.plan.steps.length > 0) return;
  const started = pod.spec.containers.some((container) => newestOf(observed, container.name) !== undefined);
  const startable = pod.spec.containers.some((container) =>
    mayStart(pod, container, newestOf(observed, container.name)),
  );
  if (started && (!startable || (attempt > 0 && pod.spec.restartPolicy === "Never"))) {
    builder.plan.finished = true;
    return;
  }
  const failed = failedForGood(pod, observed.containers);
  if (failed) {
    builder.plan.finished = true;
    return;
  }
  builder.plan.steps.push({ kind: "create-sandbox", attempt, reason });
}

/** An init container that failed and may not run again ends a pod with restartPolicy Never. */
function failedForGood(pod: Pod, containers: readonly ContainerStatus[]): boolean {
  return (pod.spec.initContainers ?? []).some((init) => {
    const status = containers.find((candidate) => candidate.metadata?.name === init.name);
    return status?.state === ContainerState.CONTAINER_EXITED && status.exitCode !== 0 && !mayStart(pod, init, status);
  });
}

function planContainers(builder: PlanBuilder, sandbox: PodSandboxStatus): void {
  const { pod, observed } = builder.input;
  const init = planInit(builder, sandbox);
  if (init === "failed") {
    endPod(builder, sandbox, "an init container failed for good");
    return;
  }
  if (init === "waiting") return;
  killStrays(builder);
  let alive = 0;
  for (const container of pod.spec.containers) {
    const status = newestOf(observed, container.name);
    if (status?.state === ContainerState.CONTAINER_RUNNING) {
      alive++;
      if (definitionChanged(container, status)) {
        builder.kill(status, `Container ${container.name} definition changed, will be restarted`);
      }
    } else if (status?.state === ContainerState.CONTAINER_UNKNOWN) {
      alive++;
      builder.kill(status, `Container ${container.name} is in an unknown state, will be restarted`);
    } else if (mayStart(pod, container, status)) {
      alive++;
      builder.start(container, "app", sandbox, status, startReason(status));
    }
  }
  if (alive === 0) endPod(builder, sandbox, "all containers have ended and none will start again");
}

/** What runs under a name that the definition no longer has was taken out of it. */
function killStrays(builder: PlanBuilder): void {
  const { spec } = builder.input.pod;
  const all = [...spec.containers, ...(spec.initContainers ?? []), ...(spec.ephemeralContainers ?? [])];
  const names = new Set(all.map((container) => container.name));
  for (const status of builder.input.observed.containers) {
    const name = status.metadata?.name ?? "";
    if (isAlive(status) && !names.has(name))
      builder.kill(status, `Container ${name} is no longer in the pod's definition`);
  }
}

/** Nothing kept and nothing to start: sidecars and the sandbox go too. */
function endPod(builder: PlanBuilder, sandbox: PodSandboxStatus, reason: string): void {
  for (const status of builder.input.observed.containers) if (isAlive(status)) builder.kill(status, reason);
  if (builder.plan.steps.some((step) => step.kind === "kill-container")) return;
  builder.plan.finished = true;
  builder.plan.steps.push({ kind: "stop-sandbox", sandboxId: sandbox.id, reason });
}

/** Dead containers but the newest of a name, never-started leftovers, and sandboxes older than the one before the newest. */
function prune(builder: PlanBuilder): void {
  const { observed } = builder.input;
  const kept = new Set<string>();
  for (const status of observed.containers) {
    const name = status.metadata?.name ?? "";
    const { state } = status;
    const leftover = state === ContainerState.CONTAINER_CREATED;
    const dead = state === ContainerState.CONTAINER_EXITED;
    // One finished container of a name is lastState; a second one is history.
    if (leftover || (dead && kept.has(name))) {
      builder.plan.steps.push({ kind: "remove-container", containerId: status.id, name });
    }
    if (dead) kept.add(name);
  }
  for (const sandbox of observed.sandboxes.slice(KEPT_SANDBOXES)) {
    if (sandbox.state !== PodSandboxState.SANDBOX_READY) {
      builder.plan.steps.push({ kind: "remove-sandbox", sandboxId: sandbox.id });
    }
  }
}
