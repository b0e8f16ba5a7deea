// The fields of each step's log line: the action, its container and reason, and the states before and after it.

import { ContainerState, PodSandboxState } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { ObservedPod } from "../../../shared/kubernetes/cri/observed-pod.js";
import type { ContainerId } from "../../../shared/kubernetes/identifiers.js";
import { containerOf, newestOf } from "../../model/observed-containers.js";
import type { Step } from "../../model/step.js";

export interface StepDecision {
  step: Step["kind"];
  container?: string;
  reason?: string;
  /** State of the container or sandbox before the step, and its state after it. */
  from?: string;
  to?: string;
}

const CONTAINER_STATES: Readonly<Record<ContainerState, string>> = {
  [ContainerState.CONTAINER_CREATED]: "created",
  [ContainerState.CONTAINER_RUNNING]: "running",
  [ContainerState.CONTAINER_EXITED]: "exited",
  [ContainerState.CONTAINER_UNKNOWN]: "unknown",
};

export function stepDecision(step: Step, observed: ObservedPod): StepDecision {
  const { kind } = step;
  switch (step.kind) {
    case "create-sandbox":
      return { step: kind, reason: step.reason, from: sandboxState(observed, undefined), to: "ready" };
    case "stop-sandbox":
      return { step: kind, reason: step.reason, from: sandboxState(observed, step.sandboxId), to: "not ready" };
    case "remove-sandbox":
      return { step: kind, from: sandboxState(observed, step.sandboxId), to: "none" };
    case "start-container": {
      const { name } = step.container;
      const newest = newestOf(observed, name);
      const from = newest === undefined ? "none" : CONTAINER_STATES[newest.state];
      return { step: kind, container: name, reason: step.reason, from, to: "running" };
    }
    case "kill-container":
      return {
        step: kind,
        container: step.name,
        reason: step.reason,
        from: stateOf(observed, step.containerId),
        to: "exited",
      };
    case "run-pre-stop":
      return { step: kind, container: step.name, reason: step.reason };
    case "remove-container":
      return { step: kind, container: step.name, from: stateOf(observed, step.containerId), to: "none" };
    case "resize-containers":
      return { step: kind, reason: step.reason };
    case "release":
    case "clean-up":
      return { step: kind };
  }
}

function stateOf(observed: ObservedPod, containerId: ContainerId): string {
  const status = containerOf(observed, containerId);
  return status === undefined ? "none" : CONTAINER_STATES[status.state];
}

/** The sandbox with this id, or the newest one. */
function sandboxState(observed: ObservedPod, id: string | undefined): string {
  const sandbox = observed.sandboxes.find((one) => id === undefined || one.id === id);
  if (sandbox === undefined) return "none";
  return sandbox.state === PodSandboxState.SANDBOX_READY ? "ready" : "not ready";
}
