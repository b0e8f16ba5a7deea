// The input of the planner, with its memory of completed steps, and small queries that several plan functions use.
import type { Container, Pod, ResourceRequirements } from "../../shared/api/pod.js";
import { ContainerState, type ContainerStatus } from "../../shared/cri/gen/runtime.v1.js";
import { type ObservedPod, forgetAllBut } from "../../shared/cri/observed-pod.js";
import { type ResizeView, changedResources, type Resizable } from "../model/pod-resources.js";
import { annotationKeys, containerHash } from "../model/labels.js";
import type { ProbeResults } from "../model/probe-port.js";
import { isPositive } from "../resources/pod-requests.js";
import type { CrashBackoff } from "./crash-backoff.js";
import type { RestartGates } from "../model/restart.js";
import type { StartFailure } from "../model/synced-pod.js";
import type { Step } from "../model/step.js";

export interface PlanInput {
  pod: Pod;
  observed: ObservedPod;
  /** By the steady clock. */
  now: number;
  backoff: CrashBackoff;
  startFailures: ReadonlyMap<string, StartFailure>;
  probes: ProbeResults;
  gates: RestartGates;
  memory: Pick<RestartMemory, "restarts" | "resizes" | "removed">;
  /** The containers run in no cgroup of the pod, so no pod limit applies to them. */
  cgroupLost?: boolean;
  /** Absent: running containers are never resized. */
  resize?: ResizeView;
  /** From the previous plan: the end of the grace period of a completed pod, by the steady clock. */
  endDeadline?: number | undefined;
  /** Number of exited containers of a name that stay; negative: all. Default 1. */
  deadContainersKept?: number;
}

export function definitionChanged(container: Container, status: ContainerStatus): boolean {
  const hash = status.annotations[annotationKeys.hash];
  return hash !== undefined && hash !== containerHash(container);
}

export function startReason(status: ContainerStatus | undefined): string {
  if (status === undefined) return "it has not run yet";
  if (status.state === ContainerState.CONTAINER_CREATED) return "it was created but never started";
  return `it exited with code ${status.exitCode}${status.reason === "" ? "" : ` (${status.reason})`}`;
}

// Compares a container's allocated CPU and memory with the values last set in the runtime.

/** True if the container must be restarted to get its new values. */
export function resizeNeedsRestart(input: PlanInput, container: Container): boolean {
  const { resizePolicy = [] } = container;
  if (resizePolicy.length === 0) return false;
  const changes = [...(resizeChanges(input, container) ?? []), ...podLimitChanges(input, container)];
  return resizePolicy.some(
    ({ resourceName, restartPolicy }) =>
      restartPolicy === "RestartContainer" && changes.some((name) => name === resourceName),
  );
}

/**
 * The changed limits of the pod that the container takes, as it has none of its own. Empty after a failed resize: the container may have
 * restarted with the new limits already.
 */
function podLimitChanges({ pod, resize }: PlanInput, { resources }: Container): Resizable[] {
  const before = resize?.actuated?.pod;
  if (before === undefined || resize?.retryAt !== undefined) return [];
  const changes = changedResources(limitsOf(before), limitsOf(pod.spec.resources));
  return changes.filter((name) => !isPositive(resources?.limits, name));
}

function limitsOf(resources: ResourceRequirements = {}): ResourceRequirements {
  return resources.limits === undefined ? {} : { limits: resources.limits };
}

/** undefined: the container's values are unknown. */
export function resizeChanges({ resize }: PlanInput, { name, resources }: Container): Resizable[] | undefined {
  if (resize === undefined) return [];
  const own = resize.actuated?.containers[name];
  return own === undefined ? undefined : changedResources(own, resources);
}

// The planner's record of completed steps that the runtime does not show. These are containers that were stopped for a restart, and
// containers that were removed because all restart. It ends with the process: after that only the exit code counts.

export class RestartMemory {
  /** Reasons by ids of containers stopped for a restart. */
  private readonly stopped = new Map<string, string>();
  /** Those among them that get new resources by it. */
  private readonly resized = new Set<string>();
  /** Names of containers removed by the rule RestartAllContainers that do not exist again yet. */
  readonly removed = new Set<string>();

  /** Call before the step runs: after a failed call the result is unknown. */
  record(step: Step): void {
    if (step.kind === "kill-container" && step.restart === true) this.stopped.set(step.containerId, step.reason);
    if (step.kind === "kill-container" && step.forResize === true) this.resized.add(step.containerId);
    if (step.kind === "remove-container" && step.restartAll === true) this.removed.add(step.name);
  }

  /** Forgets containers that the runtime no longer lists, and removed containers that exist again. */
  onObserved(observed: ObservedPod): void {
    forgetAllBut(this.stopped, observed);
    forgetAllBut(this.resized, observed);
    for (const { metadata } of observed.containers) this.removed.delete(metadata?.name ?? "");
  }

  get stops(): ReadonlyMap<string, string> {
    return this.stopped;
  }

  restarts(containerId: string): boolean {
    return this.stopped.has(containerId);
  }

  resizes(containerId: string): boolean {
    return this.resized.has(containerId);
  }
}
