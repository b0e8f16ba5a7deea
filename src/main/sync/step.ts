// The planner's output: typed steps that the doer executes, one verb per file in runtime/.
import type { Container } from "../../shared/api/pod.js";
import type { ContainerStateWaiting } from "../../shared/api/pod-status.js";

export type ContainerKind = "init" | "app" | "ephemeral";

export interface CreateSandboxStep {
  kind: "create-sandbox";
  attempt: number;
  reason: string;
}
export interface StopSandboxStep {
  kind: "stop-sandbox";
  sandboxId: string;
  reason: string;
}
export interface RemoveSandboxStep {
  kind: "remove-sandbox";
  sandboxId: string;
}
export interface StartContainerStep {
  kind: "start-container";
  container: Container;
  containerKind: ContainerKind;
  sandboxId: string;
  sandboxAttempt: number;
  podIPs: string[];
  /** undefined: the doer looks at the log files, as no status of the container is left. */
  restartCount: number | undefined;
  reason: string;
}
export interface KillContainerStep {
  kind: "kill-container";
  containerId: string;
  name: string;
  /** Seconds the container gets between its stop signal and SIGKILL. */
  graceSeconds: number;
  /** When the grace ends, milliseconds since the epoch: the one clock of the preStop hook and the stop after it. */
  deadline: number;
  reason: string;
}
export interface RemoveContainerStep {
  kind: "remove-container";
  containerId: string;
  name: string;
}
/** Everything of the pod on this machine but its containers: volumes, cgroup, directories, logs. */
export interface CleanUpStep {
  kind: "clean-up";
}

export type Step =
  | CreateSandboxStep
  | StopSandboxStep
  | RemoveSandboxStep
  | StartContainerStep
  | KillContainerStep
  | RemoveContainerStep
  | CleanUpStep;

export interface Plan {
  steps: Step[];
  /** When time alone will change the plan (back-off over, deadline reached): milliseconds since the epoch. */
  wakeAt?: number;
  /** Containers that wait, and for what: shown in the pod's status. */
  waiting: Map<string, ContainerStateWaiting>;
  /** The pod ran to its end and nothing of it will start again. */
  finished: boolean;
}

/** One line that says what a step does and why, for the decision log. */
export function describeStep(step: Step): string {
  switch (step.kind) {
    case "create-sandbox":
      return `create sandbox, attempt ${step.attempt}: ${step.reason}`;
    case "stop-sandbox":
      return `stop sandbox ${step.sandboxId.slice(0, 13)}: ${step.reason}`;
    case "remove-sandbox":
      return `remove sandbox ${step.sandboxId.slice(0, 13)}`;
    case "start-container":
      return `start container ${step.container.name}: ${step.reason}`;
    case "kill-container":
      return `stop container ${step.name} within ${step.graceSeconds}s: ${step.reason}`;
    case "remove-container":
      return `remove container ${step.name} (${step.containerId.slice(0, 13)})`;
    case "clean-up":
      return "clean up volumes, cgroup and directories";
  }
}
