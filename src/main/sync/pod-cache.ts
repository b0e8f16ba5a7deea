// Main's picture of the runtime, fed by the pleg thread. Who changes something bumps the generation; records that were
// looked up before the change are stale: dropped and counted, never believed.
import type { Clock } from "../../shared/clock/clock.js";
import type { InspectHint, InspectRequest, PlegRecord, RuntimeState } from "../../shared/contracts/pleg.js";
import type { ObservedPod } from "../../shared/cri/observed-pod.js";

/** The pleg thread could not say how a pod is: the call failed, or no answer came in time. */
export class InspectionError extends Error {
  override readonly name = "InspectionError";
  constructor(
    readonly uid: string,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

export interface PodCacheEvents {
  /** A pod's state changed. */
  onPod(uid: string): void;
  /** The runtime connection changed. */
  onRuntime(state: RuntimeState, before: RuntimeState | undefined): void;
  /** A relist ended; `uids` are the pods the runtime has. */
  onRelisted(uids: string[]): void;
}

interface Wait {
  generation: number;
  resolve(observed: ObservedPod): void;
  reject(error: Error): void;
}

/** An inspection that stays unanswered this long is asked for again; after ASK_LIMIT tries the pass fails. */
const ASK_AGAIN_MS = 10_000;
const ASK_LIMIT = 3;

export class PodCache {
  private readonly pods = new Map<string, ObservedPod>();
  private readonly wanted = new Map<string, number>();
  private readonly waits = new Map<string, Set<Wait>>();
  /** Pods whose last inspection failed and was not asked for again: nobody will answer a wait for them. */
  private readonly unanswered = new Set<string>();
  private generation = 0;
  /** UIDs of the first relist that have not been inspected yet; undefined before the first relist. */
  private unseen: Set<string> | undefined;
  private state: RuntimeState | undefined;
  /** Records dropped because the pod had changed since. */
  staleRecords = 0;

  constructor(
    private readonly clock: Clock,
    private readonly ask: (request: InspectRequest) => void,
    private readonly events: PodCacheEvents,
  ) {}

  /** Whether every pod that the runtime had at the first relist is known: before that nothing may be started. */
  get complete(): boolean {
    return this.unseen?.size === 0;
  }

  get runtime(): RuntimeState | undefined {
    return this.state;
  }

  /** What the runtime has of a pod; an empty picture when nothing. */
  get(uid: string): ObservedPod {
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

  /** Every pod of which the runtime has something. */
  uids(): string[] {
    return [...this.pods.keys()];
  }

  all(): Iterable<ObservedPod> {
    return this.pods.values();
  }

  onRecord(record: PlegRecord): void {
    switch (record.kind) {
      case "pod":
        this.onObserved(record.observed);
        return;
      case "relisted":
        if (this.unseen === undefined) this.unseen = new Set(record.uids.filter((uid) => !this.pods.has(uid)));
        this.events.onRelisted(record.uids);
        return;
      case "runtime": {
        const before = this.state;
        this.state = record.state;
        this.events.onRuntime(record.state, before);
        return;
      }
      case "inspect-failed":
        this.unseen?.delete(record.uid);
        this.unanswered.add(record.uid);
        this.settle(record.uid, record.generation, (wait) =>
          wait.reject(new InspectionError(record.uid, record.code, record.message)),
        );
        return;
    }
  }

  /** Notes that a pod was changed and has it looked at. Returns the generation to wait for. */
  bump(uid: string, hints: InspectHint[]): number {
    this.generation++;
    this.wanted.set(uid, this.generation);
    this.request({ uid, generation: this.generation, hints });
    return this.generation;
  }

  /** The pod as it is after everything main did to it, waiting for the inspection where one is under way. */
  async latest(uid: string, signal: AbortSignal): Promise<ObservedPod> {
    const wanted = this.wanted.get(uid) ?? 0;
    return wanted === 0 ? this.get(uid) : this.waitFor(uid, wanted, signal);
  }

  /** The pod as it was at `generation` or later. Rejects with InspectionError, or the signal's reason. */
  async waitFor(uid: string, generation: number, signal: AbortSignal): Promise<ObservedPod> {
    for (let tries = 1; ; tries++) {
      const current = this.pods.get(uid);
      if (current !== undefined && current.generation >= generation) return current;
      if (this.unanswered.has(uid)) this.request({ uid, generation, hints: [] });
      const answer = await this.waitOnce(uid, generation, signal);
      if (answer !== undefined) return answer;
      if (tries === ASK_LIMIT) {
        throw new InspectionError(uid, "TIMEOUT", `no inspection of pod ${uid} came back within ${tries * 10} s`);
      }
      this.request({ uid, generation, hints: [] });
    }
  }

  /**
   * The pleg thread has been restarted and knows no generations: every pod that was ever changed is asked for, or all
   * it sees of them from now on would be taken for stale.
   */
  resend(): void {
    for (const [uid, generation] of this.wanted) this.request({ uid, generation, hints: [] });
  }

  /** Forgets a pod that is gone for good. */
  forget(uid: string): void {
    this.wanted.delete(uid);
    this.unanswered.delete(uid);
    const observed = this.pods.get(uid);
    if (observed?.sandboxes.length === 0 && observed.containers.length === 0) this.pods.delete(uid);
  }

  private request(request: InspectRequest): void {
    this.unanswered.delete(request.uid);
    this.ask(request);
  }

  private onObserved(observed: ObservedPod): void {
    const { uid } = observed;
    this.unanswered.delete(uid);
    this.unseen?.delete(uid);
    if (observed.generation < (this.wanted.get(uid) ?? 0)) {
      this.staleRecords++;
      return;
    }
    const empty = observed.sandboxes.length === 0 && observed.containers.length === 0;
    if (empty && !this.wanted.has(uid)) this.pods.delete(uid);
    else this.pods.set(uid, observed);
    this.settle(uid, observed.generation, (wait) => wait.resolve(observed));
    this.events.onPod(uid);
  }

  private settle(uid: string, generation: number, answer: (wait: Wait) => void): void {
    for (const wait of this.waits.get(uid) ?? []) if (wait.generation <= generation) answer(wait);
  }

  /** One wait with a cap: undefined means that nothing came. */
  private waitOnce(uid: string, generation: number, signal: AbortSignal): Promise<ObservedPod | undefined> {
    return new Promise((resolve, reject) => {
      const waits = this.waits.get(uid) ?? new Set<Wait>();
      this.waits.set(uid, waits);
      const onAbort = (): void => {
        finish();
        reject(signal.reason instanceof Error ? signal.reason : new Error("aborted"));
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
