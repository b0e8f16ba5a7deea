// The syncLoop: routes what the sources and the pleg thread say to the pod workers, and looks for pods nobody wants.
// What must hold: nothing starts before the runtime has been seen whole; nothing is removed before every source spoke.
import type { Pod } from "../../shared/api/pod.js";
import type { Clock } from "../../shared/clock/clock.js";
import type { PlegRecord, RuntimeState } from "../../shared/contracts/pleg.js";
import type { Logger } from "../../shared/log/logger.js";
import type { PodCache } from "./pod-cache.js";
import type { PodRecords } from "./pod-records.js";
import type { PodWorkers } from "./pod-workers.js";

export interface PodChange {
  kind: "add" | "update" | "remove";
  pod: Pod;
}

export interface SyncLoopDeps {
  cache: PodCache;
  workers: PodWorkers;
  records: PodRecords;
  clock: Clock;
  log: Logger;
  /** UIDs with a directory or cgroup of their own on this machine. */
  leftovers(): Promise<string[]>;
  /** Says that the loop is alive. */
  stamp(): void;
}

const GRACE_ANNOTATION = "io.kubernetes.pod.terminationGracePeriod";
const DEFAULT_GRACE_SECONDS = 30;

export class SyncLoop {
  private sourcesSeen = false;
  /** Changes that came before the runtime was known, in order. */
  private readonly early: PodChange[] = [];
  private leftoversSwept = false;
  private stopped = false;

  constructor(private readonly deps: SyncLoopDeps) {}

  onPodChange(change: PodChange): void {
    this.deps.stamp();
    if (this.stopped) return;
    if (this.deps.cache.complete) this.apply(change);
    else this.early.push(change);
  }

  /** Every configured source has delivered at least once. */
  onSourcesSeen(): void {
    this.sourcesSeen = true;
    this.sweep();
  }

  onPlegRecord(record: PlegRecord): void {
    this.deps.stamp();
    const before = this.deps.cache.complete;
    this.deps.cache.onRecord(record);
    if (!before && this.deps.cache.complete) this.onCacheComplete();
  }

  onPod(uid: string): void {
    this.deps.workers.get(uid)?.poke();
  }

  onRelisted(): void {
    this.sweep();
  }

  /** The agent stops: nothing is routed any more. */
  stop(): void {
    this.stopped = true;
  }

  onRuntime(state: RuntimeState, before: RuntimeState | undefined): void {
    const { log } = this.deps;
    if (state.reachable && before?.reachable !== true) {
      log.info({ runtime: state.name, version: state.version }, `runtime ${state.name} ${state.version} answers`);
    }
    if (!state.reachable && before?.reachable !== false) {
      log.error(
        `the container runtime does not answer; running containers go on, changes wait for it: ${state.message}`,
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
    for (const change of this.early.splice(0)) this.apply(change);
    this.sweep();
  }

  private apply({ kind, pod }: PodChange): void {
    switch (kind) {
      case "add":
      case "update":
        this.resumeOrAdd(pod);
        return;
      case "remove":
        this.deps.workers.remove(pod.metadata.uid, "the pod was removed from its source");
        return;
    }
  }

  /** A termination that an earlier agent began is carried to its end; the pod then starts anew. */
  private resumeOrAdd(pod: Pod): void {
    const { uid } = pod.metadata;
    const record = this.deps.records.get(uid);
    if (record?.termination !== undefined && !this.deps.workers.has(uid)) {
      this.deps.workers.adoptOrphan(uid, record.pod, record.termination);
    }
    this.deps.workers.add(pod);
  }

  /** Ends what runs or lies about without being wanted. */
  private sweep(): void {
    const { cache, workers } = this.deps;
    if (this.stopped || !this.sourcesSeen || !cache.complete) return;
    for (const observed of cache.all()) {
      if (observed.sandboxes.length + observed.containers.length === 0 || workers.has(observed.uid)) continue;
      const annotations = observed.containers[0]?.annotations ?? {};
      this.adopt(observed.uid, Number(annotations[GRACE_ANNOTATION] ?? DEFAULT_GRACE_SECONDS));
    }
    if (this.leftoversSwept) return;
    this.leftoversSwept = true;
    this.deps.leftovers().then(
      (uids) => {
        for (const uid of [...uids, ...this.deps.records.uids()]) if (!workers.has(uid)) this.adopt(uid, 0);
      },
      (error: unknown) => this.deps.log.warn({ err: error }, "what earlier pods left on disk could not be listed"),
    );
  }

  private adopt(uid: string, graceSeconds: number): void {
    const record = this.deps.records.get(uid);
    const grace = record?.pod.spec.terminationGracePeriodSeconds ?? graceSeconds;
    const deadline = record?.termination?.deadline ?? this.deps.clock.now() + Math.max(grace, 1) * 1000;
    this.deps.log.info({ uid }, `pod ${uid} is on this node but in no source: it is ended and cleaned up`);
    this.deps.workers.adoptOrphan(uid, record?.pod, { deadline, reason: "the pod is in no source any more" });
  }
}
