// What the planner looks at, and small views on it that its parts share.
import type { Container, Pod } from "../../shared/api/pod.js";
import type { ContainerStateWaiting } from "../../shared/api/pod-status.js";
import {
  ContainerState,
  PodSandboxState,
  type ContainerStatus,
  type PodSandboxStatus,
} from "../../shared/cri/gen/runtime.v1.js";
import type { ObservedPod } from "../../shared/cri/observed-pod.js";
import { annotationKeys } from "../runtime/config/labels.js";
import { restartCountOf } from "../runtime/config/log-paths.js";
import type { ProbeResults } from "../status/probe-results.js";
import { containerHash } from "./container-hash.js";
import { crashBackoffKey, crashLoopMessage, type CrashBackoff } from "./crash-backoff.js";
import type { ContainerKind, Plan, StartContainerStep } from "./step.js";

/** The last attempt to start a container failed before it ran. */
export interface StartFailure {
  /** Waiting reason, e.g. "ErrImagePull". */
  reason: string;
  message: string;
  /** Milliseconds since the epoch. */
  failedAt: number;
  retryAt: number;
}

export interface PlanInput {
  pod: Pod;
  observed: ObservedPod;
  /** Milliseconds since the epoch. */
  now: number;
  backoff: CrashBackoff;
  startFailures: ReadonlyMap<string, StartFailure>;
  probes: ProbeResults;
}

const PULL_FAILURES: ReadonlySet<string> = new Set([
  "ErrImagePull",
  "RegistryUnavailable",
  "SignatureValidationFailed",
]);
/** How long a pull's error is shown before the back-off is. */
const PULL_ERROR_SHOWN_MS = 1000;

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

/** Collects a plan; keeps the earliest wake-up. */
export class PlanBuilder {
  readonly plan: Plan = { steps: [], waiting: new Map<string, ContainerStateWaiting>(), finished: false };

  constructor(readonly input: PlanInput) {}

  wakeAt(at: number): void {
    this.plan.wakeAt = Math.min(this.plan.wakeAt ?? at, at);
  }

  kill(status: ContainerStatus, reason: string): void {
    const grace = graceSeconds(this.input.pod);
    this.plan.steps.push({
      kind: "kill-container",
      containerId: status.id,
      name: status.metadata?.name ?? "",
      graceSeconds: grace,
      deadline: this.input.now + grace * 1000,
      reason,
    });
  }

  /**
   * Plans a start, or the wait that must come before it. Answers whether the container waits.
   * `previous` is the newest container of that name, which the new one follows.
   */
  start(
    container: Container,
    containerKind: ContainerKind,
    sandbox: PodSandboxStatus,
    previous: ContainerStatus | undefined,
    reason: string,
  ): boolean {
    const { pod, now, backoff, startFailures } = this.input;
    const failure = startFailures.get(container.name);
    if (failure !== undefined && failure.retryAt > now) {
      this.plan.waiting.set(container.name, waitingAfter(container, failure, now));
      const shownAt = failure.failedAt + PULL_ERROR_SHOWN_MS;
      this.wakeAt(PULL_FAILURES.has(failure.reason) && now < shownAt ? shownAt : failure.retryAt);
      return true;
    }
    if (previous !== undefined && previous.finishedAt > 0n) {
      const key = crashBackoffKey(pod, container);
      const wait = backoff.inBackoff(key, nanosToMs(previous.finishedAt), now);
      if (wait !== undefined) {
        const message = crashLoopMessage(pod, container, wait.delayMs);
        this.plan.waiting.set(container.name, { reason: "CrashLoopBackOff", message });
        this.wakeAt(wait.until);
        return true;
      }
    }
    const step: StartContainerStep = {
      kind: "start-container",
      container,
      containerKind,
      sandboxId: sandbox.id,
      sandboxAttempt: sandbox.metadata?.attempt ?? 0,
      podIPs: podIPsOf(sandbox),
      restartCount: previous === undefined ? undefined : restartCountOf(previous) + 1,
      reason,
    };
    this.plan.steps.push(step);
    return false;
  }
}

/** Seconds a container of this pod gets to stop. */
export function graceSeconds(pod: Pod): number {
  const grace = pod.metadata.deletionGracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds ?? 2;
  return Math.max(grace, 2);
}

/** A pull that failed is shown as the error first, then as the back-off it is in. */
function waitingAfter(container: Container, failure: StartFailure, now: number): ContainerStateWaiting {
  const { reason, message } = failure;
  if (PULL_FAILURES.has(reason) && now - failure.failedAt >= PULL_ERROR_SHOWN_MS) {
    const image = container.image ?? "";
    return { reason: "ImagePullBackOff", message: `Back-off pulling image "${image}": ${reason}: ${message}` };
  }
  return { reason, message };
}
