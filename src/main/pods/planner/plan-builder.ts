// Collects a plan: stops, starts or the waits that come before them, and the earliest moment to plan again.

import { type SteadyTime, earliest, later, wallTime } from "../../../shared/base/clock/moments.js";
import { quote } from "../../../shared/base/text/quote.js";
import type { EventReason } from "../../../shared/kubernetes/api/event-reasons.js";
import type { ContainerStateWaiting } from "../../../shared/kubernetes/api/pod-status.js";
import type { Container } from "../../../shared/kubernetes/api/pod.js";
import { podDescription } from "../../../shared/kubernetes/api/pod.js";
import type { ObservedContainer, ObservedSandbox } from "../../../shared/kubernetes/cri/observed-pod.js";
import type { ContainerId } from "../../../shared/kubernetes/identifiers.js";
import { graceSeconds } from "../../model/container-stop.js";
import { crashBackoffKey, crashLoopMessage } from "../../model/crash-backoff.js";
import type { EventInput } from "../../model/event-recorder.js";
import { nanosToMs, podIPsOf } from "../../model/observed-containers.js";
import { restartCountOf } from "../../model/paths.js";
import { mayStart } from "../../model/restart.js";
import type {
  BackoffStep,
  ContainerKind,
  KillContainerStep,
  Plan,
  PlannedEvent,
  StartContainerStep,
} from "../../model/step.js";
import type { StartFailure } from "../../model/synced-pod.js";
import type { PlanInput } from "./plan-context.js";

const PULL_FAILURES: ReadonlySet<string> = new Set([
  "ErrImagePull",
  "RegistryUnavailable",
  "SignatureValidationFailed",
]);
/** The status shows a pull's error for this time before it shows ImagePullBackOff. */
const PULL_ERROR_SHOWN_MS = 1000;

/** A container start: the container, its sandbox, and the previous run that it replaces. */
export interface Start {
  container: Container;
  containerKind: ContainerKind;
  sandbox: ObservedSandbox;
  /** The newest container of that name: the new one continues its restart count. */
  previous?: ObservedContainer | undefined;
  /** The container whose exit may delay the start; undefined: none does. */
  crashed?: ObservedContainer | undefined;
  targetContainerId?: ContainerId | undefined;
  after?: string | undefined;
  reason: string;
}

export class PlanBuilder {
  readonly plan: Plan & { events: PlannedEvent[] } = {
    steps: [],
    waiting: new Map<string, ContainerStateWaiting>(),
    finished: false,
    events: [],
  };

  constructor(readonly input: PlanInput) {}

  wakeAt(at: SteadyTime): void {
    this.plan.wakeAt = earliest(this.plan.wakeAt ?? at, at);
  }

  /** True by the restart rules, and for a container that was stopped for a restart. */
  mayStart(container: Container, status: ObservedContainer | undefined): boolean {
    const { pod, gates, memory } = this.input;
    if (mayStart(pod, container, status, gates)) return true;
    return status !== undefined && memory.restarts(status.id) && pod.metadata.deletionTimestamp === undefined;
  }

  kill(
    status: ObservedContainer,
    reason: string,
    rest: Partial<
      Pick<KillContainerStep, "graceSeconds" | "deadline" | "restart" | "forResize" | "withoutPreStop" | "after">
    > = {},
  ): void {
    const grace = rest.graceSeconds ?? graceSeconds(this.input.pod);
    this.plan.steps.push({
      kind: "kill-container",
      containerId: status.id,
      name: status.metadata?.name ?? "",
      ...rest,
      graceSeconds: grace,
      deadline: rest.deadline ?? later(this.input.now, grace * 1000),
      reason,
    });
  }

  /** Plans a start, or the wait that must come before it. */
  start({ container, containerKind, sandbox, previous, crashed, targetContainerId, after, reason }: Start): void {
    if (this.input.pod.metadata.deletionTimestamp !== undefined) return;
    if (this.failedLately(container) || this.backsOff(container, crashed)) return;
    const backoff = this.backoffStep(container, crashed);
    const step: StartContainerStep = {
      kind: "start-container",
      container,
      containerKind,
      sandboxId: sandbox.id,
      sandboxAttempt: sandbox.metadata?.attempt ?? 0,
      podIPs: podIPsOf(sandbox),
      restartCount: previous === undefined ? undefined : restartCountOf(previous) + 1,
      targetContainerId,
      backoff,
      after,
      reason,
    };
    this.plan.steps.push(step);
  }

  /** Discards the steps planned so far. */
  drop(): void {
    this.plan.steps = [];
    this.plan.waiting.clear();
    this.plan.events = [];
    delete this.plan.wakeAt;
  }

  /** True if the crash loop back-off delays the restart. The plan then shows it in the status and as an event. */
  backsOff(container: Container, crashed: ObservedContainer | undefined): boolean {
    const { pod, now, backoff } = this.input;
    const step = this.backoffStep(container, crashed);
    const wait = step === undefined ? undefined : backoff.inBackoff(step.key, step.finishedAt, now);
    if (wait === undefined) return false;
    const { name } = container;
    const message = crashLoopMessage(pod, container, wait.delayMs);
    this.plan.waiting.set(name, { reason: "CrashLoopBackOff", message });
    this.plan.events.push({
      key: `BackOff ${name} ${wait.until}`,
      event: {
        type: "Warning",
        reason: "BackOff",
        message: `Back-off restarting failed container ${name} in pod ${podDescription(pod)}`,
        container: name,
      },
    });
    this.wakeAt(wait.until);
    return true;
  }

  backoffStep(container: Container, crashed: ObservedContainer | undefined): BackoffStep | undefined {
    if (crashed === undefined || crashed.finishedAt === 0n) return undefined;
    return { key: crashBackoffKey(this.input.pod, container), finishedAt: wallTime(nanosToMs(crashed.finishedAt)) };
  }

  private failedLately(container: Container): boolean {
    const { now, startFailures } = this.input;
    const failure = startFailures.get(container.name);
    if (failure === undefined || failure.retryAt <= now) return false;
    this.plan.waiting.set(container.name, waitingAfter(container, failure, now));
    const shownAt = later(failure.failedAt, PULL_ERROR_SHOWN_MS);
    const isPull = PULL_FAILURES.has(failure.reason);
    if (isPull && now >= shownAt) this.planPullBackoffEvents(container, failure);
    this.wakeAt(isPull && now < shownAt ? shownAt : failure.retryAt);
    return true;
  }

  private planPullBackoffEvents({ name, image = "" }: Container, { retryAt }: StartFailure): void {
    const plan = (type: EventInput["type"], reason: EventReason, message: string): void => {
      this.plan.events.push({
        key: `${reason} pull ${name} ${retryAt}`,
        event: { type, reason, message, container: name },
      });
    };
    plan("Normal", "BackOff", `Back-off pulling image ${quote(image)}`);
    plan("Warning", "Failed", "Error: ImagePullBackOff");
  }
}

/** A failed pull is shown as the error first, then as its back-off. */
function waitingAfter(container: Container, failure: StartFailure, now: number): ContainerStateWaiting {
  const { reason, message } = failure;
  if (PULL_FAILURES.has(reason) && now - failure.failedAt >= PULL_ERROR_SHOWN_MS) {
    const image = container.image ?? "";
    return { reason: "ImagePullBackOff", message: `Back-off pulling image ${quote(image)}: ${reason}: ${message}` };
  }
  return { reason, message };
}
