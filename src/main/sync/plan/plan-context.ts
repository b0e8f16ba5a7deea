// What the planner looks at, and small views on it that its parts share.
import type { Container, Pod, Probe } from "../../../shared/api/pod.js";
import { boundedSeconds } from "../../../shared/clock/durations.js";
import {
  ContainerState,
  PodSandboxState,
  type ContainerStatus,
  type PodSandboxStatus,
} from "../../../shared/cri/gen/runtime.v1.js";
import type { ObservedPod } from "../../../shared/cri/observed-pod.js";
import type { ResizeView } from "../../resources/allocation/resizes.js";
import { annotationKeys } from "../../runtime/config/labels.js";
import type { ProbeResults } from "../../status/probe-results.js";
import { containerHash } from "../container-hash.js";
import type { CrashBackoff } from "../crash-backoff.js";
import type { RestartGates } from "./restart.js";
import type { RestartMemory } from "./restart-memory.js";

/** The last attempt to start a container failed before it ran. */
export interface StartFailure {
  /** Waiting reason, e.g. "ErrImagePull". */
  reason: string;
  message: string;
  /** By the steady clock. */
  failedAt: number;
  retryAt: number;
}

export interface PlanInput {
  pod: Pod;
  observed: ObservedPod;
  /** By the steady clock. */
  now: number;
  backoff: CrashBackoff;
  startFailures: ReadonlyMap<string, StartFailure>;
  probes: ProbeResults;
  gates: RestartGates;
  memory: Pick<RestartMemory, "restarts" | "removed">;
  /** What runs is in no cgroup of the pod's, so that nothing holds it to its limits. */
  cgroupLost?: boolean;
  /** Absent: running containers are never resized. */
  resize?: ResizeView;
  /** Of the plan before: when the grace ends of a pod that ran to its end, by the steady clock. */
  endDeadline?: number | undefined;
  /** Ended containers of a name that stay; negative: all. Default 1. */
  deadContainersKept?: number;
}

/** The runtime gets at least this long between the stop signal and SIGKILL. */
export const MIN_STOP_SECONDS = 2;

export function nanosToMs(nanos: bigint): number {
  return Number(nanos / 1_000_000n);
}

/** The newest container of a name, of any sandbox. */
export function newestOf(observed: ObservedPod, name: string): ContainerStatus | undefined {
  return observed.containers.find((status) => status.metadata?.name === name);
}

/** The newest container of a name that was made in this sandbox. */
export function newestIn(sandbox: PodSandboxStatus, observed: ObservedPod, name: string): ContainerStatus | undefined {
  const status = newestOf(observed, name);
  return status !== undefined && status.createdAt >= sandbox.createdAt ? status : undefined;
}

export function podIPsOf(sandbox: PodSandboxStatus): string[] {
  const { network } = sandbox;
  if (network === undefined || network.ip === "") return [];
  return [network.ip, ...network.additionalIps.map((address) => address.ip)];
}

export function definitionChanged(container: Container, status: ContainerStatus): boolean {
  const hash = status.annotations[annotationKeys.hash];
  return hash !== undefined && hash !== containerHash(container);
}

export function isAlive(status: ContainerStatus): boolean {
  return status.state === ContainerState.CONTAINER_RUNNING || status.state === ContainerState.CONTAINER_UNKNOWN;
}

export function readySandboxes(sandboxes: readonly PodSandboxStatus[]): PodSandboxStatus[] {
  return sandboxes.filter((sandbox) => sandbox.state === PodSandboxState.SANDBOX_READY);
}

export function startReason(status: ContainerStatus | undefined): string {
  if (status === undefined) return "it has not run yet";
  if (status.state === ContainerState.CONTAINER_CREATED) return "it was created but never started";
  return `it ended with exit code ${status.exitCode}${status.reason === "" ? "" : ` (${status.reason})`}`;
}

/**
 * Seconds a container of this pod gets to stop.
 * @param probe the probe that gave it up
 */
export function graceSeconds({ metadata, spec }: Pod, probe?: Probe): number {
  const grace =
    metadata.deletionGracePeriodSeconds ??
    probe?.terminationGracePeriodSeconds ??
    spec.terminationGracePeriodSeconds ??
    MIN_STOP_SECONDS;
  return boundedSeconds(grace, { least: MIN_STOP_SECONDS, fallback: MIN_STOP_SECONDS });
}
