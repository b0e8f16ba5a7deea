// Patches changed pod statuses to the API server: urgent ones first, only the newest of a pod, a few pods at once.
// Deletes the object of a pod that the server is deleting, once the pod is terminated.
// Invariants:
// - The newest status of every pod is sent in the end, however long the server is away; no verdict is revoked.
// - A pod object is deleted only after the request for its deletion, its final phase and the pod's termination.
// - While the server does not respond there is one call at a time, with a back-off.

import { Lifetime } from "../../../../shared/base/abort/lifetime.js";
import type { Clock, Timer } from "../../../../shared/base/clock/clock.js";
import { messageOf } from "../../../../shared/base/errors/thrown.js";
import { backoffMs } from "../../../../shared/base/turns/backoff.js";
import { forEachIsolated } from "../../../../shared/base/turns/for-each-isolated.js";
import { isConflict, isNotFound } from "../../../../shared/kubernetes/api/client/errors.js";
import { PODS } from "../../../../shared/kubernetes/api/client/kinds.js";
import type { ApiClient, ObjectHead } from "../../../../shared/kubernetes/api/client/port.js";
import type { PodStatus } from "../../../../shared/kubernetes/api/pod-status.js";
import { isStaticPod, podDescription, podFullName, type Pod } from "../../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../../shared/kubernetes/identifiers.js";
import { errorText } from "../../../../shared/telemetry/log/error-text.js";
import { verbose, type Logger } from "../../../../shared/telemetry/log/logger.js";
import { isFinalPhase } from "../../../model/phase.js";
import { podIdentity } from "../../../model/slim-pod.js";
import { deleteObject } from "../delete-object.js";
import { patchWithDigits } from "../generation-digits.js";
import { CONFIG_MIRROR, isMirrorPod, type ApiView } from "./api-view.js";
import { isOutage, Outage } from "./outage.js";
import { OversizedStatuses } from "./oversized-statuses.js";
import { shownStatus } from "./shown-status.js";
import { statusPatch, type LastExchange } from "./status-patch.js";
import { StatusQueue } from "./status-queue.js";
import { holdOf, type Hold } from "./urgency.js";

/** Calls under way at once. */
const MAX_IN_FLIGHT = 8;
/** Interval of the search for statuses that another client overwrote. */
const RECONCILE_MS = 10_000;
const CONFIG_HASH = "kubernetes.io/config.hash";
const RETRY = { initialMs: 200, maxMs: 30_000 };

export interface StatusManagerDeps {
  client: Pick<ApiClient, "patch" | "delete" | "get">;
  view: ApiView;
  clock: Clock;
  log: Logger;
  /** A status reached the server so many seconds after it changed. */
  synced?(seconds: number): void;
}

interface Entry {
  /** Its identity alone. */
  pod: Pod;
  isStatic: boolean;
  status: PodStatus;
  version: number;
  /** The version that the server has. */
  sent: number;
  /** Time of the oldest change that was not sent, monotonic milliseconds. */
  since: number | undefined;
  last?: LastExchange;
}

/** One turn: the pod's status, and the object that it is written to; undefined: the API has none. */
type StatusWrite = Readonly<{ entry: Entry; status: PodStatus; target: Pod | undefined }>;

/** Failed turns of a pod in a row, and the error of the last one. */
interface Failures {
  count: number;
  complaint: string;
}

export class StatusManager {
  private readonly entries = new Map<PodUid, Entry>();
  /** Static pods by full name. */
  private readonly statics = new Map<string, PodUid>();
  /** Pods that use nothing of this node any more. */
  private readonly down = new Set<PodUid>();
  /** Pods whose status another client may have changed. */
  private readonly suspects = new Set<PodUid>();
  private readonly failures = new Map<PodUid, Failures>();
  private readonly oversized = new OversizedStatuses();
  private readonly queue = new StatusQueue();
  private readonly work = new Set<Promise<void>>();
  private readonly lifetime = new Lifetime();
  private readonly outage: Outage;
  private readonly reconciling: Timer;
  private wake: Timer | undefined;

  constructor(private readonly deps: StatusManagerDeps) {
    this.outage = new Outage(deps.clock, deps.log, () => this.pump());
    this.reconciling = deps.clock.every(RECONCILE_MS, () => this.reconcile()).unref();
  }

  /** The newest status of a pod. */
  set(pod: Pod, status: PodStatus): void {
    if (this.lifetime.hasEnded) return;
    const { uid } = pod.metadata;
    const known = this.entries.get(uid);
    const isStatic = isStaticPod(pod);
    const identity = podIdentity(pod);
    if (known === undefined) {
      if (isStatic) this.statics.set(podFullName(pod), uid);
      this.entries.set(uid, { pod: identity, isStatic, status, version: 1, sent: 0, since: this.now() });
    } else {
      known.pod = identity;
      if (!isStatic && isFinalPhase(known.status.phase) && !isFinalPhase(status.phase)) {
        this.deps.log.error(
          { uid },
          `${podDescription(pod)}: ignoring the status update from ${known.status.phase} to ${status.phase}`,
        );
        return;
      }
      known.status = status;
      known.version++;
      known.since ??= this.now();
    }
    this.enqueue(uid);
  }

  /** The pod uses nothing of this node any more: its object may go. */
  gone(uid: PodUid): void {
    if (this.entries.get(uid)?.isStatic === true || this.deps.view.get(uid) === undefined) {
      this.forget(uid);
      return;
    }
    this.down.add(uid);
    this.enqueue(uid);
  }

  /** The watch shows a pod or a mirror pod; the view has it already. */
  onObject(object: Pod): void {
    this.outage.onResponse();
    const uid = isMirrorPod(object) ? this.statics.get(podFullName(object)) : object.metadata.uid;
    const entry = uid === undefined ? undefined : this.entries.get(uid);
    if (uid === undefined || entry === undefined) return;
    if (entry.sent < entry.version || this.mayDelete(uid)) this.enqueue(uid);
    else this.suspects.add(uid);
  }

  /** The watch shows that the object was deleted; the view no longer has it. */
  onObjectDeleted(object: Pod): void {
    this.outage.onResponse();
    if (!isMirrorPod(object)) this.forget(object.metadata.uid);
    else {
      const uid = this.statics.get(podFullName(object));
      const entry = uid === undefined ? undefined : this.entries.get(uid);
      // Another mirror pod gets the whole status again.
      if (entry !== undefined) {
        entry.sent = 0;
        delete entry.last;
      }
    }
  }

  /** The API server responded to another client of this process: send the waiting statuses now. */
  serverReturned(): void {
    this.outage.onResponse();
  }

  /** Statuses that the server does not have yet. */
  get pending(): number {
    return this.queue.size;
  }

  /** A status that was not sent is not lost: the next kubelet computes it again. */
  async stop(): Promise<void> {
    this.lifetime.end();
    this.reconciling.cancel();
    this.wake?.cancel();
    this.outage.stop();
    await Promise.all(this.work);
  }

  private enqueue(uid: PodUid): void {
    const { wait, stage } = this.holdOf(uid);
    if (wait === 0) this.queue.pushUrgent(uid);
    else this.queue.delayUntil(uid, stage, this.now() + wait);
    this.pump();
  }

  private holdOf(uid: PodUid): Hold {
    const entry = this.entries.get(uid);
    const isLast = this.down.has(uid) && isFinalPhase(entry?.status.phase);
    if (entry === undefined || isLast || this.mayDelete(uid)) return { wait: 0, stage: "now" };
    const target = this.target(entry);
    const isDeleting = target?.metadata.deletionTimestamp !== undefined;
    // A status that another client overwrote is no change of this kubelet.
    const sent = entry.sent < entry.version ? entry.last?.sent : undefined;
    const othersWaiting = this.queue.othersWaiting(uid);
    return holdOf({ api: target?.status, sent, next: entry.status, isDeleting, othersWaiting });
  }

  private pump(): void {
    if (this.lifetime.hasEnded) return;
    const now = this.now();
    for (;;) {
      if (this.queue.busyCount >= this.outage.limit(MAX_IN_FLIGHT)) return;
      const uid = this.queue.take(now);
      if (uid === undefined) break;
      const work = this.syncStatus(uid).finally(() => {
        this.work.delete(work);
        this.queue.release(uid);
        this.pump();
      });
      this.work.add(work);
    }
    const at = this.queue.wakeAt(now);
    this.wake?.cancel();
    this.wake = at === undefined ? undefined : this.deps.clock.after(Math.max(at - now, 1), () => this.pump());
  }

  /** One turn of one pod. Never rejects. */
  private async syncStatus(uid: PodUid): Promise<void> {
    const entry = this.entries.get(uid);
    const version = entry?.version ?? 0;
    const write = entry === undefined ? undefined : { entry, status: entry.status, target: this.target(entry) };
    this.suspects.delete(uid);
    try {
      const sent = write === undefined || (await this.send(write));
      if (sent && write !== undefined && this.isCurrent(write)) this.noteSent(write.entry, version);
      if (this.mayDelete(uid)) await this.remove(uid);
      this.failures.delete(uid);
      // A pod without an object in the API is enqueued again when its object appears.
      this.queue.done(uid);
      if (write === undefined || this.entries.get(uid) !== write.entry) return;
      const isNewer = sent && write.entry.version !== version;
      if (isNewer || (this.target(write.entry) !== undefined && !this.isCurrent(write))) this.enqueue(uid);
    } catch (error) {
      await this.onFailed(uid, write, error);
    }
  }

  /** The pod's status is still written to this object. A mirror pod may be replaced while a call is under way. */
  private isCurrent({ entry, target }: StatusWrite): boolean {
    return this.target(entry)?.metadata.uid === target?.metadata.uid;
  }

  /** @returns false when there is no object to write to */
  private async send(write: StatusWrite): Promise<boolean> {
    const { entry, target } = write;
    const { client, view, log } = this.deps;
    if (target === undefined) return false;
    const { name, namespace, uid } = target.metadata;
    const ours = this.shown(entry, target);
    const status = statusPatch(target.status ?? {}, ours, entry.last);
    if (status === undefined) return true;
    const body = patchWithDigits({ metadata: { uid }, status }, ours);
    const { signal } = this.lifetime;
    let isRestored = false;
    // An object that is too large to be read has got the status all the same.
    const restore = (head: ObjectHead): Pod => {
      isRestored = true;
      return { ...target, metadata: { ...target.metadata, ...head, uid }, status: ours };
    };
    const options = { subresource: "status", type: "strategic", signal, restore } as const;
    const answer = await client.patch<Pod>(PODS, { namespace, name }, body, options);
    this.outage.onResponse();
    // The response may come after the object's removal, and after its successor.
    if (!this.isCurrent(write)) return true;
    view.put(answer, isRestored);
    if (answer.status !== undefined) entry.last = { sent: ours, got: answer.status };
    verbose(log, 3)?.(
      { pod: uid, patch: status },
      `updated the status of ${podDescription(entry.pod)} in the API server`,
    );
    return true;
  }

  /** The pod's status as this object gets it. */
  private shown({ pod, status, isStatic }: Entry, target: Pod): PodStatus {
    return this.oversized.fitted(pod.metadata.uid, status, shownStatus(status, target.status, !isStatic));
  }

  private async remove(uid: PodUid): Promise<void> {
    const { client, view, log } = this.deps;
    const object = view.get(uid);
    if (object === undefined) return;
    await deleteObject(client, object, this.lifetime.signal);
    this.outage.onResponse();
    this.forget(uid);
    log.info({ pod: uid }, `${podDescription(object)}: pod is terminated, deleting its object`);
  }

  private async onFailed(uid: PodUid, write: StatusWrite | undefined, error: unknown): Promise<void> {
    const { log } = this.deps;
    if (this.lifetime.hasEnded) return;
    if (isOutage(error)) {
      this.outage.onFailure(error);
      return;
    }
    this.outage.onResponse();
    if (write !== undefined && isNotFound(error)) {
      this.onObjectMissing(uid, write);
      return;
    }
    const { count, complaint } = this.failures.get(uid) ?? { count: 0, complaint: "" };
    const failures = count + 1;
    const message = errorText(error);
    this.failures.set(uid, { count: failures, complaint: message });
    if (write !== undefined && isConflict(error) && (await this.readObject(uid, write)) && failures === 1) {
      this.queue.delay(uid, this.now());
      return;
    }
    const isShorter = write !== undefined && this.oversized.onFailed(uid, write.status, error);
    const waitMs = isShorter ? 0 : backoffMs(RETRY, failures);
    this.queue.delay(uid, this.now() + waitMs);
    if (complaint === message) return;
    const about = write === undefined ? uid : podDescription(write.entry.pod);
    const next = isShorter ? "now without its containers' statuses" : `in ${waitMs / 1000} s`;
    log.warn({ pod: uid, err: error }, `cannot update the status of ${about}, next try ${next}: ${message}`);
  }

  /** Reads the object from the server. @returns false when the object is removed, or cannot be read */
  private async readObject(uid: PodUid, write: StatusWrite): Promise<boolean> {
    const { target } = write;
    const { client, view } = this.deps;
    if (target === undefined) return false;
    const { name, namespace } = target.metadata;
    try {
      const object = await client.get(PODS, { namespace, name }, { signal: this.lifetime.signal });
      if (object.metadata.uid === target.metadata.uid) {
        view.put(object);
        return true;
      }
    } catch (error) {
      if (!isNotFound(error)) return false;
    }
    this.onObjectMissing(uid, write);
    return false;
  }

  /** The object was removed before the watch has shown it. */
  private onObjectMissing(uid: PodUid, { entry, target }: StatusWrite): void {
    if (entry.isStatic) {
      if (target !== undefined) {
        if (this.deps.view.get(target.metadata.uid) !== undefined) this.deps.view.markDeleted(target.metadata.uid);
        this.onObjectDeleted(target);
      }
      this.queue.done(uid);
      if (this.target(entry) !== undefined) this.enqueue(uid);
    } else this.forget(uid);
  }

  private noteSent(entry: Entry, version: number): void {
    if (entry.sent < version && entry.since !== undefined) this.deps.synced?.((this.now() - entry.since) / 1000);
    entry.sent = version;
    entry.since = entry.version === version ? undefined : this.now();
  }

  private reconcile(): void {
    forEachIsolated(
      this.suspects,
      (uid) => this.reconcileOne(uid),
      (error, uid) =>
        this.deps.log.error({ pod: uid, err: error }, `cannot compare the status of pod ${uid}: ${messageOf(error)}`),
    );
  }

  private reconcileOne(uid: PodUid): void {
    // A pod whose turn it is now is compared again.
    if (this.queue.isBusy(uid) || this.queue.has(uid)) return;
    this.suspects.delete(uid);
    const entry = this.entries.get(uid);
    const target = entry === undefined ? undefined : this.target(entry);
    if (entry === undefined || target === undefined) return;
    const ours = this.shown(entry, target);
    if (statusPatch(target.status ?? {}, ours, entry.last) !== undefined) this.enqueue(uid);
  }

  /** The object that the pod's status is written to. */
  private target({ pod, isStatic }: Entry): Pod | undefined {
    const { view } = this.deps;
    if (!isStatic) return view.get(pod.metadata.uid);
    const mirror = view.mirror(podFullName(pod));
    const hash = pod.metadata.annotations?.[CONFIG_HASH];
    return mirror?.metadata.annotations?.[CONFIG_MIRROR] === hash ? mirror : undefined;
  }

  private mayDelete(uid: PodUid): boolean {
    const object = this.deps.view.get(uid);
    if (object?.metadata.deletionTimestamp === undefined || !this.down.has(uid) || isMirrorPod(object)) return false;
    return isFinalPhase(object.status?.phase);
  }

  private forget(uid: PodUid): void {
    const entry = this.entries.get(uid);
    this.entries.delete(uid);
    this.down.delete(uid);
    this.suspects.delete(uid);
    this.failures.delete(uid);
    this.oversized.forget(uid);
    this.queue.done(uid);
    if (entry?.isStatic === true && this.statics.get(podFullName(entry.pod)) === uid) {
      this.statics.delete(podFullName(entry.pod));
    }
  }

  private now(): number {
    return this.deps.clock.monotonic();
  }
}
