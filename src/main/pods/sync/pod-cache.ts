// Main's copy of the runtime's state, sent by the pleg thread. A component that changes a pod increments the pod
// generation; records with an older generation are stale: dropped and counted, never used.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { abortReason } from "../../../shared/base/errors/thrown.js";
import type { InspectHint, PlegRecord, RuntimeState } from "../../../shared/contracts/pleg.js";
import type { ObservedPod } from "../../../shared/kubernetes/cri/observed-pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { PlegThread } from "../../threads/pleg-thread.js";
import { InspectPace } from "./inspect-pace.js";

/** The pleg thread could not read a pod: the call failed, or no response came in time. */
export class InspectionError extends Error {
  override readonly name = "InspectionError";
  constructor(
    readonly uid: PodUid,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** A change of the cache on which the syncLoop acts. */
export type CacheChange =
  /** A pod's state changed, and no pass waits for it. */
  | { kind: "pod"; uid: PodUid }
  /** The runtime connection changed. */
  | { kind: "runtime"; state: RuntimeState; before: RuntimeState | undefined }
  | { kind: "relisted" };

interface Wait {
  generation: number;
  /** The waiter acts on the state itself: no other pass is due. */
  acts: boolean;
  resolve(observed: ObservedPod): void;
  reject(error: Error): void;
}

/** An inspection without a response is requested again after this time; after ASK_LIMIT tries the pass fails. */
const ASK_AGAIN_MS = 10_000;
const ASK_LIMIT = 3;

export class PodCache {
  private readonly pods = new Map<PodUid, ObservedPod>();
  private readonly wanted = new Map<PodUid, number>();
  private readonly waits = new Map<PodUid, Set<Wait>>();
  /** Pods whose newest inspection failed: reads of their state fail until the next inspection. */
  private readonly failed = new Set<PodUid>();
  private generation = 0;
  /** Pods of the first relist that have not been inspected yet; undefined before the first relist. */
  private unseen: Set<PodUid> | undefined;
  private state: RuntimeState | undefined;
  private stateSince: number | undefined;
  /** Records dropped because the pod had changed since. */
  staleRecords = 0;
  /** Grows with each change of a pod. A reader that has seen all pods at this count finds nothing new. */
  changes = 0;

  private readonly pace: InspectPace;

  constructor(
    private readonly clock: Clock,
    private readonly pleg: Pick<PlegThread, "inspect">,
  ) {
    this.pace = new InspectPace(clock, (request) => pleg.inspect(request));
  }

  /** Whether every pod that the runtime had at the first relist is known: before that nothing may be started. */
  get complete(): boolean {
    return this.unseen?.size === 0;
  }

  get runtime(): RuntimeState | undefined {
    return this.state;
  }

  /** Since when it is reachable and ready, or is not; milliseconds since the epoch. */
  get runtimeSince(): number | undefined {
    return this.stateSince;
  }

  /** The last observation of a pod in the runtime; without containers if the runtime has none. */
  get(uid: PodUid): ObservedPod {
    return (
      this.pods.get(uid) ?? {
        uid,
        namespace: "",
        name: "",
        sandboxes: [],
        containers: [],
        generation: 0,
        observedAt: 0,
      }
    );
  }

  /** All pods with an object in the runtime. */
  uids(): PodUid[] {
    return [...this.pods.keys()];
  }

  all(): Iterable<ObservedPod> {
    return this.pods.values();
  }

  /** Takes a record of the pleg thread. @returns undefined when no more is to be done about it */
  onRecord(record: PlegRecord): CacheChange | undefined {
    switch (record.kind) {
      case "pod":
        return this.onObserved(record.observed) ? { kind: "pod", uid: record.observed.uid } : undefined;
      case "relisted":
        if (this.unseen === undefined) this.unseen = new Set(record.uids.filter((uid) => !this.pods.has(uid)));
        return { kind: "relisted" };
      case "runtime": {
        const before = this.state;
        this.state = record.state;
        if (before === undefined || readiness(before) !== readiness(record.state)) this.stateSince = this.clock.now();
        return { kind: "runtime", state: record.state, before };
      }
      case "inspect-failed":
        this.unseen?.delete(record.uid);
        if (record.generation >= (this.wanted.get(record.uid) ?? 0)) this.failed.add(record.uid);
        this.answerWaits(record.uid, record.generation, (wait) =>
          wait.reject(new InspectionError(record.uid, record.code, record.message)),
        );
        return undefined;
    }
  }

  /**
   * Records that a pod was changed and requests an inspection, which begins when a pass waits for it or at the pod's
   * pace. Returns the generation to wait for.
   */
  bump(uid: PodUid, hints: InspectHint[]): number {
    this.generation++;
    this.wanted.set(uid, this.generation);
    this.failed.delete(uid);
    this.pace.request(uid, this.generation, hints, this.pods.get(uid)?.containers.length ?? 0);
    return this.generation;
  }

  /** The pod's state after all changes by main; waits for a pending inspection. */
  async latest(uid: PodUid, signal: AbortSignal): Promise<ObservedPod> {
    const wanted = this.wanted.get(uid) ?? 0;
    this.pace.sendWaiting(uid);
    // A pod that could not be inspected is unknown, not empty: its running containers must not be started twice.
    return wanted === 0 && !this.failed.has(uid) ? this.get(uid) : this.waitForGeneration(uid, wanted, signal, true);
  }

  /** The pod as it was at `generation` or later. Rejects with InspectionError, or the signal's reason. */
  waitFor(uid: PodUid, generation: number, signal: AbortSignal): Promise<ObservedPod> {
    return this.waitForGeneration(uid, generation, signal, false);
  }

  private async waitForGeneration(
    uid: PodUid,
    generation: number,
    signal: AbortSignal,
    acts: boolean,
  ): Promise<ObservedPod> {
    for (let tries = 1; ; tries++) {
      const current = this.pods.get(uid);
      if (current !== undefined && current.generation >= generation) return current;
      if (this.failed.delete(uid)) this.inspectNow(uid, generation);
      const answer = await this.waitOnce(uid, generation, signal, acts);
      if (answer !== undefined) return answer;
      if (tries === ASK_LIMIT) {
        throw new InspectionError(uid, "TIMEOUT", `no inspection of pod ${uid} was published within ${tries * 10} s`);
      }
      this.inspectNow(uid, generation);
    }
  }

  /** The objects that main made come first: an observation of this generation must have them. */
  private inspectNow(uid: PodUid, generation: number): void {
    this.pace.sendWaiting(uid);
    this.pleg.inspect({ uid, generation, hints: [] });
  }

  /**
   * The pleg thread has been restarted: it learns which generation of each pod main wants. Without that it would
   * publish every later change with an old one, to be dropped as stale.
   */
  resend(): void {
    for (const [uid, generation] of this.wanted) this.inspectNow(uid, generation);
    for (const uid of this.waits.keys())
      if (!this.wanted.has(uid)) this.pleg.inspect({ uid, generation: 0, hints: [] });
  }

  /** Forgets a removed pod. */
  forget(uid: PodUid): void {
    this.wanted.delete(uid);
    this.failed.delete(uid);
    this.pace.forget(uid);
    const observed = this.pods.get(uid);
    if (observed?.sandboxes.length !== 0 || observed.containers.length !== 0) return;
    this.pods.delete(uid);
    this.changes++;
  }

  /** @returns true if a pass of the pod is due */
  private onObserved(observed: ObservedPod): boolean {
    const { uid } = observed;
    this.unseen?.delete(uid);
    if (observed.generation < (this.wanted.get(uid) ?? 0)) {
      this.staleRecords++;
      return false;
    }
    this.failed.delete(uid);
    this.changes++;
    const empty = observed.sandboxes.length === 0 && observed.containers.length === 0;
    if (empty && !this.wanted.has(uid)) this.pods.delete(uid);
    else this.pods.set(uid, observed);
    return !this.answerWaits(uid, observed.generation, (wait) => wait.resolve(observed));
  }

  /** @returns true if one of the waiters acts on it */
  private answerWaits(uid: PodUid, generation: number, answer: (wait: Wait) => void): boolean {
    let acted = false;
    for (const wait of this.waits.get(uid) ?? []) {
      if (wait.generation > generation) continue;
      acted ||= wait.acts;
      answer(wait);
    }
    return acted;
  }

  /** One wait with a limit: undefined means that no record came. */
  private waitOnce(
    uid: PodUid,
    generation: number,
    signal: AbortSignal,
    acts: boolean,
  ): Promise<ObservedPod | undefined> {
    return new Promise((resolve, reject) => {
      const waits = this.waits.get(uid) ?? new Set<Wait>();
      this.waits.set(uid, waits);
      const onAbort = (): void => {
        finish();
        reject(abortReason(signal));
      };
      const timer = this.clock.after(ASK_AGAIN_MS, () => {
        finish();
        resolve(undefined);
      });
      const finish = (): void => {
        timer.cancel();
        signal.removeEventListener("abort", onAbort);
        waits.delete(wait);
        if (waits.size === 0) this.waits.delete(uid);
      };
      const wait: Wait = {
        generation,
        acts,
        resolve: (observed) => {
          finish();
          resolve(observed);
        },
        reject: (error) => {
          finish();
          reject(error);
        },
      };
      waits.add(wait);
      if (signal.aborted) onAbort();
      else signal.addEventListener("abort", onAbort, { once: true });
    });
  }
}

function readiness({ reachable, runtimeReady, networkReady }: RuntimeState): string {
  return `${reachable} ${runtimeReady} ${networkReady}`;
}
