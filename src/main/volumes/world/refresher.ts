// Updates of the volumes of running pods. They come at least every syncFrequency, immediately after a change of a
// source object, sooner after a failure, and soon after the start of the kubelet. Invariant: one pod at a time, in the
// background. After `forget` has resolved, the pod's volumes are not changed any more.

import { StoppingError } from "../../../shared/base/abort/lifetime.js";
import type { Clock, Timer } from "../../../shared/base/clock/clock.js";
import { backoffMs } from "../../../shared/base/turns/backoff.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { EventRecorder } from "../../model/event-recorder.js";
import { volumeKey } from "./actual-state.js";
import type { WantedPod } from "./desired-state.js";
import type { VolumeOperations } from "./operations.js";
import { emitSetUpFailed } from "./wait-for-volumes.js";

export interface RefresherDeps {
  clock: Clock;
  /** syncFrequency. */
  intervalMs: number;
  /** Resolves to whether all went well. */
  refresh(uid: PodUid, signal: AbortSignal): Promise<boolean>;
  /** A refresh rejected; it is repeated as one that failed, and other pods' refreshes follow. */
  onError(uid: PodUid, error: unknown): void;
  /** 0 to 1. */
  random?: () => number;
}

/** A refresh comes after this part of the interval at least: pods that started together part over time. */
const EARLIEST = 0.75;
const RETRY = { initialMs: 2000 };
/**
 * Volumes that an earlier kubelet set up may be behind: what changed while no kubelet ran comes in no event. The API
 * server has time to answer the first requests, and pods part over time.
 */
const BEHIND = { afterMs: 5000, withinMs: 10_000 };

interface Entry {
  /** On the monotonic clock; undefined while it is being refreshed and nothing new has come. */
  due: number | undefined;
  failures: number;
}

export class Refresher {
  private readonly entries = new Map<PodUid, Entry>();
  private timer: Timer | undefined;
  private current: { uid: PodUid; abort: AbortController; done: Promise<void> } | undefined;
  private stopped = false;

  constructor(private readonly deps: RefresherDeps) {}

  /** Idempotent. `isLeft`: an earlier kubelet set the pod's volumes up. */
  watch(uid: PodUid, isLeft = false): void {
    if (this.entries.has(uid) || this.stopped) return;
    this.entries.set(uid, { due: isLeft ? this.firstOfLeft() : this.next(0), failures: 0 });
    this.arm();
  }

  /** Nothing for a pod that is not watched. */
  soon(uid: PodUid): void {
    const entry = this.entries.get(uid);
    if (entry === undefined) return;
    entry.due = this.deps.clock.monotonic();
    this.arm();
  }

  async forget(uid: PodUid): Promise<void> {
    this.entries.delete(uid);
    this.arm();
    if (this.current?.uid !== uid) return;
    this.current.abort.abort(new Error(`the volumes of pod ${uid} are being unmounted`));
    await this.current.done;
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.entries.clear();
    this.timer?.cancel();
    if (this.current === undefined) return;
    this.current.abort.abort(new StoppingError());
    await this.current.done;
  }

  private arm(): void {
    this.timer?.cancel();
    this.timer = undefined;
    if (this.current !== undefined || this.stopped) return;
    let first: { uid: PodUid; due: number } | undefined;
    for (const [uid, { due }] of this.entries) {
      if (due !== undefined && (first === undefined || due < first.due)) first = { uid, due };
    }
    if (first === undefined) return;
    const { uid, due } = first;
    const waitMs = Math.max(0, due - this.deps.clock.monotonic());
    this.timer = this.deps.clock.after(waitMs, () => this.startRefresh(uid)).unref();
  }

  private startRefresh(uid: PodUid): void {
    this.timer = undefined;
    const entry = this.entries.get(uid);
    if (entry === undefined) {
      this.arm();
      return;
    }
    entry.due = undefined;
    const abort = new AbortController();
    const refreshed = this.deps.refresh(uid, abort.signal).catch((error: unknown) => {
      this.deps.onError(uid, error);
      return false;
    });
    const done = refreshed.then((ok) => {
      entry.failures = ok ? 0 : entry.failures + 1;
      // Volumes that were added meanwhile are due already.
      entry.due ??= this.next(entry.failures);
      this.current = undefined;
      this.arm();
    });
    this.current = { uid, abort, done };
  }

  private firstOfLeft(): number {
    const { clock, random = Math.random } = this.deps;
    return clock.monotonic() + BEHIND.afterMs + BEHIND.withinMs * random();
  }

  private next(failures: number): number {
    const { clock, intervalMs, random = Math.random } = this.deps;
    const interval = intervalMs * (EARLIEST + (1 - EARLIEST) * random());
    const retry = failures === 0 ? interval : backoffMs(RETRY, failures);
    return clock.monotonic() + Math.min(interval, retry);
  }
}

/**
 * Updates the volumes of a running pod, one after the other. A failure becomes an event of the pod, and the other
 * volumes follow. A volume with another operation in progress is left to that operation. Resolves to whether all went
 * well.
 */
export async function refreshVolumes(
  { operations, events }: { operations: VolumeOperations; events: EventRecorder },
  { pod, volumes }: WantedPod,
  signal: AbortSignal,
): Promise<boolean> {
  const calledOff = (): boolean => signal.aborted;
  let ok = true;
  for (const { volume, plugin } of volumes) {
    if (calledOff()) break;
    const work = async (): Promise<void> => plugin.refresh?.({ pod, volume, signal });
    try {
      await operations.refresh(volumeKey(pod.metadata.uid, volume.name), work);
    } catch (error) {
      if (calledOff()) break;
      ok = false;
      emitSetUpFailed(events, pod, volume.name, error);
    }
  }
  return ok;
}
