// In-place resizes of the node's pods: each pod's desired and allocated resources, and the state of the difference.
//
//   same ── the spec differs ──► asked ── fits ──► in progress ── all containers run with it ──► same
//                                  │  ▲
//                    has no room   ▼  │ time, or pods that change        never possible
//                               deferred                          asked ───────────────► infeasible
//                                                            (until the next change of the spec)
//
// Invariant: a pod runs with its allocation, never with desired resources that were not granted; one resize is decided
// at a time, in the order of admission; a result for an older spec never counts for a newer one. After a start no
// resize is decided until the earlier kubelet's pods are admitted, or 30 s have passed. Otherwise a resize could take
// the resources of these pods.

import type { Clock, Timer } from "../../../shared/base/clock/clock.js";
import { type SteadyTime, later } from "../../../shared/base/clock/moments.js";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { backoffMs } from "../../../shared/base/turns/backoff.js";
import { podDescription, type Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { featuresMissing } from "../../model/declared-features.js";
import type { PodEventStream } from "../../model/pod-events.js";
import {
  resourcesOf,
  sameResources,
  withResources,
  type PodResources,
  type ResizeView,
} from "../../model/pod-resources.js";
import type { Allocations } from "../../resources/allocation/allocations.js";
import * as events from "../../resources/allocation/resize-events.js";
import {
  byTurn,
  featuresMissingFor,
  infeasible,
  raisesRequests,
  type ResizeRules,
} from "../../resources/allocation/resize-rules.js";
import type { AdmissionQueue } from "./admission-queue.js";
import { countRequested, type ResizeCounters, type RetryTrigger } from "./resize-counters.js";
import type { ResizeRefusal } from "./verdict.js";

/** Deferred resizes are tried again after this time, then this often. */
const FIRST_RETRY_MS = 30_000;
const RETRY_MS = 180_000;
/** A resize that the runtime refused. */
const FAILED = { initialMs: 1000, maxMs: 60_000 };

export interface ResizesDeps {
  allocations: Allocations;
  clock: Clock;
  log: Logger;
  events: { pod(pod: Pod, event: events.ResizeEvent): void };
  counters: ResizeCounters;
  rules: ResizeRules;
  admission: Pick<AdmissionQueue, "resize">;
  podEvents: Pick<PodEventStream, "emit">;
}

interface Pending {
  reason: "Deferred" | "Infeasible";
  message: string;
  /** Milliseconds since the epoch. */
  since: number;
}

interface Progress {
  /** Undefined: found under way after a restart of the kubelet. */
  since: number | undefined;
  error?: string;
  failures: number;
  retryAt?: SteadyTime;
}

interface Entry {
  desired: Pod;
  /** The desired pod with the allocated resources, kept as one object while neither changes. */
  effective: Pod;
  admitted: boolean;
  pending?: Pending;
  progress?: Progress;
}

export interface ResizeCondition {
  type: "PodResizePending" | "PodResizeInProgress";
  status: "True";
  reason?: string;
  message?: string;
}

export class Resizes {
  private readonly entries = new Map<PodUid, Entry>();
  /**
   * Pods of the entries with `pending` or `progress`. A node has few of them beside thousands of others, which need no
   * visit.
   */
  private readonly unsettled = new Set<PodUid>();
  /** Pods with an allocation of an earlier kubelet that are not admitted yet: no resize may take their room. */
  private readonly returning = new Set<PodUid>();
  private turn: Promise<void> = Promise.resolve();
  private timer: Timer | undefined;
  private stopped = false;
  private readonly rules: ResizeRules;

  constructor(private readonly deps: ResizesDeps) {
    this.rules = deps.rules;
  }

  /** Begins the rounds of retries. */
  start(): void {
    for (const uid of this.deps.allocations.allocatedUids())
      if (this.entries.get(uid)?.admitted !== true) this.returning.add(uid);
    this.rest(FIRST_RETRY_MS);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.timer?.cancel();
    await this.turn;
    await this.deps.allocations.flush();
  }

  /** Receives a pod's new spec. Returns the pod with its allocated resources, or unchanged if none were allocated. */
  onDesired(desired: Pod): Pod {
    const { uid } = desired.metadata;
    const known = this.entries.get(uid);
    const effective = this.asAllocated(desired);
    const entry: Entry = { admitted: false, ...known, desired, effective };
    this.entries.set(uid, entry);
    if (known !== undefined) this.checkFeatures(known.desired, desired);
    if (known !== undefined && known.admitted) countRequested(this.deps.counters, known.desired, desired);
    // If this resize releases something, the others are tried when it is granted.
    if (entry.admitted && !sameResources(resourcesOf(desired), resourcesOf(known?.desired ?? effective))) {
      // The pod's record has the new spec from now on. Without an allocation, the spec would be taken for one.
      this.deps.allocations.writeNow();
      this.consider(uid, "pod_updated");
    } else this.retry(known === undefined ? "pods_added" : "pod_updated");
    return effective;
  }

  /** The pod as it may run; undefined for one that is not known. */
  effective(uid: PodUid): Pod | undefined {
    return this.entries.get(uid)?.effective;
  }

  /** A pod of an earlier kubelet, before its source has delivered it. */
  asAllocated(pod: Pod): Pod {
    const allocated = this.deps.allocations.allocated(pod.metadata.uid);
    return allocated === undefined ? pod : withResources(pod, allocated);
  }

  /** Admission admitted the pod with its requested resources. */
  onAdmitted(pod: Pod): void {
    const { uid } = pod.metadata;
    this.returned(uid);
    const entry = this.entries.get(uid);
    if (entry === undefined) return;
    this.deps.allocations.allocate(uid, resourcesOf(pod));
    entry.admitted = true;
    entry.effective = withResources(entry.desired, resourcesOf(pod));
    this.consider(uid, "pod_updated");
  }

  /** No container of the pod runs any more: its resources are free. If it runs again, it is admitted again. */
  onOver(uid: PodUid): void {
    this.returned(uid);
    const entry = this.entries.get(uid);
    if (entry === undefined || !entry.admitted) return;
    this.entries.set(uid, { desired: entry.desired, effective: entry.desired, admitted: false });
    this.deps.allocations.forget(uid);
    this.count(uid);
    this.retry("pod_terminated");
  }

  onRemoved(uid: PodUid): void {
    this.returned(uid);
    this.deps.allocations.forget(uid);
    if (!this.entries.delete(uid)) return;
    this.count(uid);
    this.retry("pods_removed");
  }

  view(uid: PodUid): ResizeView {
    const retryAt = this.entries.get(uid)?.progress?.retryAt;
    return omitUndefined({ actuated: this.deps.allocations.actuated(uid), retryAt });
  }

  /** A container was started, with the pod's resources. */
  onStarted(pod: Pod, container: string): void {
    // Limits of other containers may depend on the pod's values: these stay until the resize has reached all
    // containers.
    this.deps.allocations.actuate(pod.metadata.uid, [container], resourcesOf(pod), false);
  }

  /** These containers of the pod now run with its resources, and its cgroup has them too. */
  onResized(pod: Pod, containers: readonly string[]): void {
    const { uid } = pod.metadata;
    this.deps.allocations.actuate(uid, containers, resourcesOf(pod), true);
    const progress = this.entries.get(uid)?.progress;
    if (progress === undefined) return;
    delete progress.error;
    delete progress.retryAt;
    progress.failures = 0;
  }

  /** The runtime or the kernel did not take the resize; it is tried again later. */
  onFailed(pod: Pod, error: unknown): void {
    const { clock, log } = this.deps;
    const entry = this.entries.get(pod.metadata.uid);
    if (entry === undefined) return;
    const progress = (entry.progress ??= { since: undefined, failures: 0 });
    const message = errorText(error);
    const waitMs = backoffMs(FAILED, ++progress.failures);
    progress.retryAt = later(clock.steady(), waitMs);
    log.error(
      { pod: pod.metadata.uid, err: error, retryMs: waitMs },
      `${podDescription(pod)}: resize failed, next try in ${waitMs / 1000}s: ${message}`,
    );
    if (progress.error === message) return;
    progress.error = message;
    this.deps.events.pod(pod, events.resizeFailed(pod, message));
    if (progress.since !== undefined) this.deps.counters.ended(clock.now() - progress.since, false);
    this.changed(pod.metadata.uid);
  }

  /** The pod was observed. True if a container still runs with other resources than those allocated. */
  onSynced(pod: Pod, resizing: boolean): void {
    const { uid } = pod.metadata;
    const entry = this.entries.get(uid);
    // An observation from before the last decision does not count.
    if (entry === undefined || !sameResources(resourcesOf(pod), resourcesOf(entry.effective))) return;
    if (resizing && entry.progress === undefined) entry.progress = { since: undefined, failures: 0 };
    else if (!resizing && entry.progress !== undefined) {
      const { since } = entry.progress;
      delete entry.progress;
      this.deps.events.pod(pod, events.resizeCompleted(pod));
      if (since !== undefined) this.deps.counters.ended(this.deps.clock.now() - since, true);
    } else return;
    this.changed(uid);
  }

  private conditions({ pending, progress }: Partial<Entry> = {}): ResizeCondition[] {
    const conditions: ResizeCondition[] = [];
    if (pending !== undefined) {
      const { reason, message } = pending;
      conditions.push({ type: "PodResizePending", status: "True", reason, message });
    }
    if (progress !== undefined) {
      const error = progress.error === undefined ? {} : { reason: "Error", message: progress.error };
      conditions.push({ type: "PodResizeInProgress", status: "True", ...error });
    }
    return conditions;
  }

  /** The state of a pod's resize, for the pod's status. */
  shown(uid: PodUid): {
    desired?: Pod | undefined;
    actuated?: PodResources | undefined;
    conditions: ResizeCondition[];
  } {
    const entry = this.entries.get(uid);
    const actuated = this.deps.allocations.actuated(uid);
    return {
      desired: entry?.desired,
      actuated,
      conditions: this.conditions(entry),
    };
  }

  /** Waiting resizes may fit now. */
  private retry(trigger: RetryTrigger, except?: string): void {
    const waiting = [...this.unsettled].flatMap((uid) => {
      const { desired, effective, pending } = this.entries.get(uid) ?? {};
      if (desired === undefined || effective === undefined || pending?.reason !== "Deferred" || uid === except)
        return [];
      return [{ uid, desired, allocated: effective, since: pending.since }];
    });
    for (const { uid } of waiting.sort(byTurn)) this.consider(uid, trigger);
  }

  /** Every source has delivered, and the allocations of other pods are forgotten: these do not return. */
  onSourcesSeen(): void {
    this.returned(...[...this.returning].filter((uid) => this.deps.allocations.allocated(uid) === undefined));
  }

  /** Pods of an earlier kubelet have their room, or need none. After the last one, resizes are decided. */
  private returned(...uids: PodUid[]): void {
    const gone = uids.filter((uid) => this.returning.delete(uid));
    if (gone.length === 0 || this.returning.size > 0) return;
    for (const uid of this.entries.keys()) this.consider(uid, "pods_added");
  }

  private rest(ms: number): void {
    if (this.stopped) return;
    this.timer = this.deps.clock
      .after(ms, () => {
        // A pod that no source has delivered by now does not delay the others any longer.
        this.returned(...this.returning);
        this.retry("periodic_retry");
        this.rest(RETRY_MS);
      })
      .unref();
  }

  private consider(uid: PodUid, trigger: RetryTrigger): void {
    this.turn = this.turn
      .then(() => this.decide(uid, trigger))
      .catch((error: unknown) => {
        if (!this.stopped) this.deps.log.error({ uid, err: error }, `cannot decide a resize: ${errorText(error)}`);
      });
  }

  private async decide(uid: PodUid, trigger: RetryTrigger): Promise<void> {
    const entry = this.entries.get(uid);
    if (this.stopped || entry === undefined || !entry.admitted || this.returning.size > 0) return;
    const { desired, effective } = entry;
    if (sameResources(resourcesOf(desired), resourcesOf(effective))) {
      if (entry.pending !== undefined) {
        delete entry.pending;
        this.changed(uid);
      }
      return;
    }
    const impossible = infeasible(desired, effective, this.rules);
    const refusal: ResizeRefusal | undefined =
      impossible === undefined
        ? await this.deps.admission.resize(desired)
        : { reason: "Infeasible", message: impossible.message, infeasible: impossible.detail };
    const now = this.entries.get(uid);
    // A pod that ended meanwhile has released its grant. A newer spec is decided in its own turn.
    if (now === undefined || !now.admitted) return;
    if (refusal === undefined) this.grant(uid, now, desired, trigger);
    else if (now.desired === desired) this.refuse(uid, now, refusal);
  }

  private grant(uid: PodUid, entry: Entry, granted: Pod, trigger: RetryTrigger): void {
    const { allocations, clock, counters, log } = this.deps;
    const before = entry.effective;
    allocations.allocate(uid, resourcesOf(granted));
    entry.effective = withResources(entry.desired, resourcesOf(granted));
    if (entry.pending?.reason === "Deferred") counters.deferredAccepted(trigger);
    delete entry.pending;
    entry.progress = { since: clock.now(), failures: 0 };
    log.info({ pod: uid, trigger }, `${podDescription(granted)}: resize granted`);
    this.deps.events.pod(granted, events.resizeStarted(granted));
    this.deps.podEvents.emit("resized", { pod: entry.effective });
    this.changed(uid);
    if (!raisesRequests(granted, before)) this.retry("pod_resized", uid);
  }

  private refuse(uid: PodUid, entry: Entry, { reason, message, infeasible: detail }: ResizeRefusal): void {
    const { clock, counters, log } = this.deps;
    const verdict = detail === undefined ? "Deferred" : "Infeasible";
    const { pending, desired } = entry;
    const same = pending?.reason === verdict && pending.message === message;
    entry.pending = { reason: verdict, message, since: pending?.since ?? clock.now() };
    if (same) return;
    if (detail !== undefined) counters.infeasible(detail);
    log.info({ pod: uid, reason, verdict }, `${podDescription(desired)}: resize ${verdict.toLowerCase()}: ${message}`);
    const event =
      detail === undefined
        ? events.resizeDeferred(desired, reason, message)
        : events.resizeInfeasible(desired, message);
    this.deps.events.pod(desired, event);
    this.changed(uid);
  }

  private changed(uid: PodUid): void {
    this.count(uid);
    this.deps.podEvents.emit("resizeChanged", { uid });
  }

  /** Counts again after a change of the pod with this UID. */
  private count(uid: PodUid): void {
    const own = this.entries.get(uid);
    if (own?.pending === undefined && own?.progress === undefined) this.unsettled.delete(uid);
    else this.unsettled.add(uid);
    const all = [...this.unsettled].map((uid) => this.entries.get(uid));
    const pending = (verdict: string): number => all.filter((entry) => entry?.pending?.reason === verdict).length;
    this.deps.counters.pending(pending("Deferred"), pending("Infeasible"));
    this.deps.counters.inProgress(all.filter((entry) => entry?.progress !== undefined).length);
  }

  /** As upstream: the pod is changed all the same, and the event names the missing feature. */
  private checkFeatures(before: Pod, after: Pod): void {
    const missing = featuresMissingFor(before, after, this.rules);
    if (missing.length === 0) return;
    this.deps.log.error({ pod: after.metadata.uid, missing }, `${podDescription(after)}: ${featuresMissing(missing)}`);
    this.deps.events.pod(after, events.featuresUnavailable(missing));
  }
}
