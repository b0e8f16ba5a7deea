// The planner's output: typed steps that the doer executes, one verb per file in runtime/.

import type { SteadyTime, WallTime } from "../../shared/base/clock/moments.js";
import type { ContainerStateWaiting } from "../../shared/kubernetes/api/pod-status.js";
import type { Container } from "../../shared/kubernetes/api/pod.js";
import type { ContainerId, SandboxId } from "../../shared/kubernetes/identifiers.js";
import type { EventInput } from "./event-recorder.js";
import type { PodResources } from "./pod-resources.js";

export type ContainerKind = "init" | "app" | "ephemeral";

/** The step is one of a crashing container's back-off: after it the next restart waits longer. */
export interface BackoffStep {
  /** The container's key in CrashBackoff. */
  key: string;
  /** Finish time of the previous container, as reported by the runtime. */
  finishedAt: WallTime;
}

export interface CreateSandboxStep {
  kind: "create-sandbox";
  attempt: number;
  reason: string;
}
export interface StopSandboxStep {
  kind: "stop-sandbox";
  sandboxId: SandboxId;
  reason: string;
}
export interface RemoveSandboxStep {
  kind: "remove-sandbox";
  sandboxId: SandboxId;
}
export interface StartContainerStep {
  kind: "start-container";
  container: Container;
  containerKind: ContainerKind;
  sandboxId: SandboxId;
  sandboxAttempt: number;
  podIPs: string[];
  /** undefined: the doer derives it from the log files, because no status of the container is left. */
  restartCount: number | undefined;
  /** Only for an ephemeral container: id of the running container whose processes it joins. */
  targetContainerId?: ContainerId | undefined;
  /** Absent for a container that follows none. */
  backoff?: BackoffStep | undefined;
  /** The container whose start precedes this one in the plan, and must have succeeded. */
  after?: string | undefined;
  reason: string;
}
export interface KillContainerStep {
  kind: "kill-container";
  containerId: ContainerId;
  name: string;
  /** Seconds the container gets between its stop signal and SIGKILL. */
  graceSeconds: number;
  /** The end of the grace period: the preStop hook and the stop after it share it. */
  deadline: SteadyTime;
  /** Stopped for a restart, independent of its restart policy and exit code. */
  restart?: true | undefined;
  /** It gets its new resources at its next start. */
  forResize?: true | undefined;
  /** A restart of all containers must be quick: preStop hooks do not run. */
  withoutPreStop?: true;
  /** A sidecar waits for its turn: the container whose stop precedes this one in the plan, and must have succeeded. */
  after?: string | undefined;
  reason: string;
}
/** The hook of a container that stops later. */
export interface PreStopStep {
  kind: "run-pre-stop";
  containerId: ContainerId;
  name: string;
  deadline: SteadyTime;
  reason: string;
}
/** Running containers get other CPU and memory values, and the pod's cgroup with them. */
export interface ResizeContainersStep {
  kind: "resize-containers";
  sandboxId: SandboxId;
  containers: readonly ResizedContainer[];
  /** The resources last applied to the pod's containers; undefined: not known. */
  actuated: PodResources | undefined;
  reason: string;
}
export interface ResizedContainer {
  container: Container;
  containerId: ContainerId;
}
export interface RemoveContainerStep {
  kind: "remove-container";
  containerId: ContainerId;
  name: string;
  /** Removed by the rule RestartAllContainers, to start again. */
  restartAll?: true;
  /** Restart count of the run whose logs go, too; undefined: they stay. */
  logsOfRun?: number | undefined;
  backoff?: BackoffStep | undefined;
}
/** A terminated pod that is still shown: its volumes and its cgroup are removed, directories and logs stay. */
interface ReleaseStep {
  kind: "release";
}
/** Everything of the pod on this machine but its containers: volumes, cgroup, directories, logs. */
interface CleanUpStep {
  kind: "clean-up";
}

export type Step =
  | CreateSandboxStep
  | StopSandboxStep
  | RemoveSandboxStep
  | StartContainerStep
  | KillContainerStep
  | PreStopStep
  | ResizeContainersStep
  | RemoveContainerStep
  | ReleaseStep
  | CleanUpStep;

/** An event that the plan causes. It is recorded once while successive plans contain the same key. */
export interface PlannedEvent {
  key: string;
  event: EventInput;
}

export interface RestartingAll {
  /** The rule RestartAllContainers fired, and not all containers are removed yet. */
  active: boolean;
  /** Names of containers that were removed by it and are not there again. */
  removed: ReadonlySet<string>;
}

export interface Plan {
  steps: Step[];
  /** The time at which the plan changes without an event (back-off expires, deadline reached). */
  wakeAt?: SteadyTime;
  /** Waiting containers with the reason that the pod's status shows. */
  waiting: Map<string, ContainerStateWaiting>;
  /** The pod completed and none of its containers will start again. */
  finished: boolean;
  /** The deadline for stopping the remaining containers of a completed pod. */
  endDeadline?: SteadyTime;
  /** Names of containers that will be started again although their policy does not require it. */
  restarting?: ReadonlySet<string>;
  restartingAll?: RestartingAll;
  /** Something of the pod runs with other resources than those that were allocated to it. */
  resizing?: true;
  events?: PlannedEvent[];
}

/** One line with the step and its reason, for the decision log. */
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
    case "run-pre-stop":
      return `run the preStop hook of container ${step.name}: ${step.reason}`;
    case "resize-containers":
      return `resize ${step.containers.map(({ container }) => container.name).join(", ") || "the pod"}: ${step.reason}`;
    case "remove-container":
      return `remove container ${step.name} (${step.containerId.slice(0, 13)})`;
    case "release":
      return "unmount volumes and remove the cgroup";
    case "clean-up":
      return "remove volumes, cgroup and directories";
  }
}
