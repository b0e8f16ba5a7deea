// The syncLoop dispatches changes of the sources and records of the pleg thread to the pod workers. It also terminates
// orphaned pods.
// Invariant: nothing starts before the first relist; nothing is removed before every source has delivered. An error of
// one pod reaches no other pod. The containers of a pod whose change failed are not removed as orphans.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { boundedSeconds } from "../../../shared/base/clock/durations.js";
import { later } from "../../../shared/base/clock/moments.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import type { LoopShare } from "../../../shared/base/turns/loop-share.js";
import type { PlegRecord, RuntimeState } from "../../../shared/contracts/pleg.js";
import { MAIN_PLEG_RECORD, MAIN_POD_CHANGE } from "../../../shared/contracts/thread-ops.js";
import { isStaticPod, podFullName, type Pod } from "../../../shared/kubernetes/api/pod.js";
import type { ObservedPod } from "../../../shared/kubernetes/cri/observed-pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { PodChangeLoop } from "../sources/pod-changes.js";
import type { CacheChange, PodCache } from "./pod-cache.js";
import type { PodRecords } from "./pod-records.js";
import type { PodTable } from "./pod-table.js";
import type { PodWorkers } from "./pod-workers.js";

export interface PodChange {
  kind: "add" | "update" | "remove";
  pod: Pod;
}

export interface SyncLoopDeps {
  cache: PodCache;
  pods: PodTable;
  workers: PodWorkers;
  records: PodRecords;
  clock: Clock;
  log: Logger;
  /** Called once, before the first pod gets a worker. */
  onFirst(): void;
  /** UIDs with a directory, logs or cgroup on this machine. */
  leftovers(): Promise<PodUid[]>;
  /** Static pods are known and have workers. Called only with an API server whose pods are not known yet. */
  onStatics(): void;
  /** All wanted pods are known. Called once. */
  onSwept(): void;
  /** A pod was found that no source wants. */
  onOrphan(): void;
  /** Changes and records count in it: the pods' passes that they cause begin in a later round of the event loop. */
  share: Pick<LoopShare, "spend">;
  /** A source wants the pod, and delivers it later. */
  isAwaited(uid: PodUid): boolean;
  /** Reports that the loop runs. */
  stamp(): void;
  /** Reports the operation that the loop starts, by its code in contracts/thread-ops.ts; 0: none. */
  setOp(code: number): void;
}

const GRACE_ANNOTATION = "io.kubernetes.pod.terminationGracePeriod";
const DEFAULT_GRACE_SECONDS = 30;

export class SyncLoop implements PodChangeLoop {
  private sourcesSeen = false;
  private staticSourcesSeen = false;
  /** Changes that came before the runtime was known, in order. */
  private readonly early: PodChange[] = [];
  private started = false;
  /** The orphaned pods of an earlier kubelet process have workers by now. */
  private swept = false;
  /** Pods whose full name another pod in the runtime has. Whether a source wants that pod is not known yet. */
  private readonly held = new Map<PodUid, Pod>();
  /** Pods that the API server is deleting, until it has: they end once. */
  private readonly deleting = new Set<PodUid>();
  /** Pods that a source wants and that could not be taken on. */
  private readonly failed = new Set<PodUid>();
  private stopped = false;

  constructor(private readonly deps: SyncLoopDeps) {}

  /**
   * Terminates pods on this machine that no source wants, found at the start or left behind since. Never rejects.
   */
  async sweepLeftovers(): Promise<void> {
    const { pods, records, log } = this.deps;
    if (this.stopped || !this.swept) return;
    // The list may still have PodSandboxes that a pod worker has just removed.
    const busy = new Set([...pods.all()].map(({ uid }) => uid));
    try {
      const found = await this.deps.leftovers();
      if (this.isStopped()) return;
      for (const uid of new Set([...found, ...records.uids()])) {
        if (!busy.has(uid) && this.isOrphan(uid)) this.adoptIsolated(uid, 0);
      }
    } catch (error) {
      log.warn({ err: error }, "cannot list the directories of orphaned pods");
    }
  }

  onPodChange(change: PodChange): void {
    this.deps.stamp();
    if (this.stopped) return;
    if (!this.started) this.early.push(change);
    else this.during(MAIN_POD_CHANGE, () => this.applyIsolated(change));
  }

  /**
   * Terminates a static pod, and starts it again under its UID when nothing of it is left, as if its manifest had been
   * taken away and put back.
   */
  restart(pod: Pod): void {
    const { uid } = pod.metadata;
    if (this.stopped || this.held.has(uid)) return;
    this.isolated(uid, `cannot restart pod ${podFullName(pod)}`, () => {
      this.deps.workers.remove(uid, "a restart was requested");
      this.deps.workers.add(pod);
    });
  }

  /** Every configured source has delivered at least once. */
  onSourcesSeen(): void {
    this.sourcesSeen = true;
    this.sweep();
  }

  /** The sources of static pods have delivered; the API server may be away for long yet. */
  onStaticSourcesSeen(): void {
    this.staticSourcesSeen = true;
    this.sweepStatics();
  }

  onPlegRecord(record: PlegRecord): void {
    this.deps.stamp();
    this.during(MAIN_PLEG_RECORD, () => {
      const change = this.deps.cache.onRecord(record);
      if (change !== undefined) this.onCacheChange(change);
      if (!this.started && !this.stopped && this.deps.cache.complete) this.onCacheComplete();
    });
  }

  /** The board names the operation, in case main hangs in it. */
  private during(op: number, work: () => void): void {
    this.deps.setOp(op);
    try {
      this.deps.share.spend(work);
    } finally {
      this.deps.setOp(0);
    }
  }

  /** The kubelet stops: no change is dispatched any more. */
  stop(): void {
    this.stopped = true;
  }

  private onCacheChange(change: CacheChange): void {
    switch (change.kind) {
      case "pod":
        this.deps.pods.get(change.uid)?.requestPass();
        return;
      case "runtime":
        this.onRuntime(change.state, change.before);
        return;
      case "relisted":
        this.sweep();
    }
  }

  private onRuntime(state: RuntimeState, before: RuntimeState | undefined): void {
    const { log } = this.deps;
    if (state.reachable && before?.reachable !== true) {
      log.info({ runtime: state.name, version: state.version }, `runtime ${state.name} ${state.version} is reachable`);
    }
    if (!state.reachable && before?.reachable !== false) {
      log.error(
        `the container runtime does not respond; running containers keep running, changes wait for it: ${state.message}`,
      );
    }
    if (state.reachable && state.message !== "" && state.message !== before?.message) {
      log.warn(`the container runtime is not ready: ${state.message}`);
    }
    const ready = state.reachable && state.runtimeReady && state.networkReady;
    const wasReady = before !== undefined && before.reachable && before.runtimeReady && before.networkReady;
    if (ready && !wasReady) this.deps.workers.pokeAll();
  }

  private onCacheComplete(): void {
    this.started = true;
    this.deps.onFirst();
    for (const change of this.early.splice(0)) this.applyIsolated(change);
    this.sweepStatics();
    this.sweep();
  }

  private applyIsolated(change: PodChange): void {
    const { kind, pod } = change;
    const { uid } = pod.metadata;
    this.failed.delete(uid);
    const what = `cannot ${kind === "remove" ? "remove" : "add"} pod ${podFullName(pod)}`;
    if (!this.isolated(uid, what, () => this.apply(change)) && kind !== "remove") this.failed.add(uid);
  }

  /** @returns false if the work failed: the error is logged, and no other pod is affected */
  private isolated(uid: PodUid, what: string, work: () => void): boolean {
    try {
      work();
      return true;
    } catch (error) {
      this.deps.log.error({ uid, err: error }, `${what}: ${messageOf(error)}`);
      return false;
    }
  }

  private apply({ kind, pod }: PodChange): void {
    switch (kind) {
      case "add":
      case "update":
        if (isBeingDeleted(pod)) this.delete(pod);
        else if (this.mustHold(pod)) this.held.set(pod.metadata.uid, pod);
        else this.resumeOrAdd(pod);
        return;
      case "remove":
        this.held.delete(pod.metadata.uid);
        this.deleting.delete(pod.metadata.uid);
        this.deps.workers.remove(pod.metadata.uid, "the pod was removed from its source");
        return;
    }
  }

  /** The object stays for a while after the termination, until the API server has the final status. */
  private delete(pod: Pod): void {
    const { pods, workers, records } = this.deps;
    const { uid } = pod.metadata;
    this.held.delete(uid);
    if (this.deleting.has(uid) && !pods.has(uid)) return;
    this.deleting.add(uid);
    workers.delete(pod, records.get(uid)?.termination?.deadline);
  }

  /** The pod's manifest may have been edited while the kubelet was down: then the old pod ends first. */
  private mustHold(pod: Pod): boolean {
    const { cache, pods } = this.deps;
    const { uid, name, namespace } = pod.metadata;
    if (this.swept || pods.has(uid)) return false;
    return [...cache.all()].some(
      (other) =>
        other.name === name &&
        other.namespace === namespace &&
        other.uid !== uid &&
        isInRuntime(other) &&
        !pods.has(other.uid),
    );
  }

  /** A termination that an earlier kubelet began is completed; the pod then starts again. */
  private resumeOrAdd(pod: Pod): void {
    const { uid } = pod.metadata;
    const record = this.deps.records.get(uid);
    if (record?.termination !== undefined && !this.deps.pods.has(uid)) {
      this.deps.workers.adoptOrphan(uid, record.pod, record.termination);
    }
    this.deps.workers.add(pod);
  }

  /** The pod was held back, and may run now. */
  private release(pod: Pod): void {
    const { uid } = pod.metadata;
    const what = `cannot add pod ${podFullName(pod)}`;
    if (!this.isolated(uid, what, () => this.resumeOrAdd(pod))) this.failed.add(uid);
  }

  private isOrphan(uid: PodUid): boolean {
    return !this.deps.pods.has(uid) && !this.held.has(uid) && !this.failed.has(uid) && !this.deps.isAwaited(uid);
  }

  /** Terminates unwanted static pods before the API server has delivered: their successors do not wait for it. */
  private sweepStatics(): void {
    const { cache, records } = this.deps;
    if (this.stopped || this.swept || !this.staticSourcesSeen || !this.started) return;
    for (const observed of cache.all()) {
      const { uid } = observed;
      const record = records.get(uid);
      if (record === undefined || !isStaticPod(record.pod) || !isInRuntime(observed)) continue;
      if (this.isOrphan(uid)) this.adoptIsolated(uid, 0);
    }
    for (const [uid, pod] of this.held) {
      if (this.mustHold(pod)) continue;
      this.held.delete(uid);
      this.release(pod);
    }
    this.deps.onStatics();
  }

  /** Terminates the pods in the runtime that no source wants. */
  private sweep(): void {
    const { cache } = this.deps;
    if (this.stopped || !this.sourcesSeen || !this.started) return;
    for (const observed of cache.all()) {
      const { uid } = observed;
      if (!isInRuntime(observed) || !this.isOrphan(uid)) continue;
      const annotations = observed.containers[0]?.annotations ?? {};
      const grace = Number(annotations[GRACE_ANNOTATION] ?? DEFAULT_GRACE_SECONDS);
      this.adoptIsolated(uid, grace, podFullName({ metadata: observed }));
    }
    const first = !this.swept;
    this.swept = true;
    for (const pod of this.held.values()) this.release(pod);
    this.held.clear();
    if (!first) return;
    this.deps.onSwept();
    void this.sweepLeftovers();
  }

  /** Read again after an await: stop() may have been called. */
  private isStopped(): boolean {
    return this.stopped;
  }

  private adoptIsolated(uid: PodUid, graceSeconds: number, fullName?: string): void {
    this.isolated(uid, `cannot terminate orphaned pod ${uid}`, () => this.adopt(uid, graceSeconds, fullName));
  }

  private adopt(uid: PodUid, graceSeconds: number, fullName?: string): void {
    const record = this.deps.records.get(uid);
    const grace = record?.pod.spec.terminationGracePeriodSeconds ?? graceSeconds;
    const seconds = boundedSeconds(grace, { least: 1, fallback: DEFAULT_GRACE_SECONDS });
    const deadline = record?.termination?.deadline ?? later(this.deps.clock.steady(), seconds * 1000);
    this.deps.onOrphan();
    this.deps.log.info({ uid }, `pod ${uid} is on this node but in no source; terminating and removing it`);
    const request = { deadline, reason: "the pod is no longer in any source" };
    this.deps.workers.adoptOrphan(uid, record?.pod, request, fullName);
  }
}

/** The deletion in the API; a manifest has no deletion timestamp. */
function isBeingDeleted(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp !== undefined && !isStaticPod(pod);
}

function isInRuntime(observed: ObservedPod): boolean {
  return observed.sandboxes.length + observed.containers.length > 0;
}
