// The times of a pod worker's passes. A request during a pass adds one more pass, and a failed pass is retried after a
// back-off. A pod without a request is synced every `resyncMs`, until it has ended.
// Invariant: after stop() and end() no pass is due.

import { setMaxListeners } from "node:events";
import { StoppingError } from "../../../shared/base/abort/lifetime.js";
import type { Clock, Timer } from "../../../shared/base/clock/clock.js";
import type { SteadyTime } from "../../../shared/base/clock/moments.js";
import type { PassRetry } from "./pass-retry.js";

interface PassScheduleDeps {
  clock: Clock;
  retry: Pick<PassRetry, "rest">;
  /** A pod without a request is synced this often (syncFrequency). */
  resyncMs: number;
  /** The time of a retry or of a resync has come. */
  onTimer(): void;
}

export class PassSchedule {
  private dirty = false;
  private timer: Timer | undefined;
  /** Aborts the pass under way. It is made for a pass: a pod that has ended needs none. */
  private abort: AbortController | undefined;
  private closed = false;
  private isStopped = false;

  constructor(private readonly deps: PassScheduleDeps) {}

  /** The signal of the pass under way. */
  get signal(): AbortSignal {
    if (this.abort === undefined && this.isStopped) return AbortSignal.abort(new StoppingError());
    this.abort ??= passAbort();
    return this.abort.signal;
  }

  /** A pass was requested since the last one began. */
  get requested(): boolean {
    return this.dirty;
  }

  /** Something may have changed: one more pass is due. @returns false when the worker passes no more */
  request(): boolean {
    if (this.closed) return false;
    this.dirty = true;
    this.timer?.cancel();
    return true;
  }

  /**
   * Begins the next pass.
   * @returns its signal, which aborts when its result is not wanted any more; undefined: none is due
   */
  next(): AbortSignal | undefined {
    if (!this.dirty || this.closed) return undefined;
    this.dirty = false;
    const { rest } = this.deps.retry;
    if (rest > 0) {
      this.wakeIn(rest);
      return undefined;
    }
    // The signal stays until it aborts: work that one pass began may continue in the next.
    if (this.abort?.signal.aborted === true) this.abort = undefined;
    return this.signal;
  }

  /** Schedules one more pass right after the current one. */
  again(): void {
    this.dirty = true;
  }

  /** Aborts the pass under way. */
  interrupt(why: string): void {
    this.abort?.abort(new Error(why));
  }

  /** The pass failed: the next one follows when its back-off has passed. */
  retryLater(): void {
    this.wakeIn(this.deps.retry.rest);
  }

  /** `at` undefined: at the next resync. */
  wakeAt(at: SteadyTime | undefined): void {
    this.wakeIn(at === undefined ? this.deps.resyncMs : at - this.deps.clock.steady());
  }

  /** The pod has ended: nothing is due until something changes. */
  rest(): void {
    this.abort = undefined;
  }

  /** No pass follows the one under way. */
  end(): void {
    this.closed = true;
    this.dirty = false;
    this.timer?.cancel();
  }

  /** Aborts the pass under way; no other follows. */
  stop(): void {
    this.end();
    this.isStopped = true;
    this.abort?.abort(new StoppingError());
  }

  private wakeIn(ms: number): void {
    if (this.closed) return;
    this.timer?.cancel();
    this.timer = this.deps.clock.after(Math.max(Math.min(ms, this.deps.resyncMs), 1), () => this.deps.onTimer());
  }
}

/** Calls of all containers and volumes of the pod listen to it at once. */
function passAbort(): AbortController {
  const abort = new AbortController();
  setMaxListeners(0, abort.signal);
  return abort;
}
