// The timeout of one probe run. It measures the container's time: delays of this thread are added. A response that
// waits in a socket for this thread is not late.

import type { Clock, Timer } from "../../base/clock/clock.js";
import type { MonotonicTime } from "../../base/clock/moments.js";
import type { StallMeter } from "./stall-meter.js";

/** The reason of the signal when time ran out. */
class ProbeTimeoutError extends Error {
  override readonly name = "ProbeTimeoutError";
  constructor(readonly timeoutMs: number) {
    super(`the probe took longer than its time-out of ${timeoutMs} ms`);
  }
}

/** A moment within a run, and what happens then. */
export interface Milestone {
  at: MonotonicTime;
  /** Called at most once for each deadline. */
  reached: () => void;
}

export class ProbeDeadline implements Disposable {
  private readonly abort = new AbortController();
  private readonly endMeasure: () => void;
  private readonly startedAt: number;
  private readonly stalledBefore: number;
  private readonly onCancel: () => void;
  private timer: Timer;
  /** Time that does not count, ms. */
  private excluded = 0;

  /** Also ends when `cancelled` does: the probe is no longer wanted. */
  constructor(
    private readonly clock: Pick<Clock, "monotonic" | "after">,
    private readonly stalls: StallMeter,
    readonly timeoutMs: number,
    private readonly cancelled: AbortSignal,
    /** Shares the timer of the deadline: most runs end before either, and a node makes hundreds per second. */
    private milestone?: Milestone,
  ) {
    this.endMeasure = stalls.use();
    this.startedAt = clock.monotonic();
    this.stalledBefore = stalls.stalledMs;
    this.timer = this.arm(timeoutMs);
    this.onCancel = () => this.abort.abort(cancelled.reason);
    if (cancelled.aborted) this.onCancel();
    else cancelled.addEventListener("abort", this.onCancel, { once: true });
  }

  get signal(): AbortSignal {
    return this.abort.signal;
  }

  /** Time ran out, as opposed to: the probe was called off. */
  get expired(): boolean {
    return this.abort.signal.reason instanceof ProbeTimeoutError;
  }

  /** The run waited for its thread, not for the container. */
  exclude(ms: number): void {
    this.excluded += ms;
  }

  [Symbol.dispose](): void {
    this.timer.cancel();
    this.endMeasure();
    this.cancelled.removeEventListener("abort", this.onCancel);
  }

  private arm(leftMs: number): Timer {
    const untilMilestone = this.milestone === undefined ? Infinity : this.milestone.at - this.clock.monotonic();
    return this.clock.after(Math.max(0, Math.ceil(Math.min(leftMs, untilMilestone))), () => this.checkTime());
  }

  private checkTime(): void {
    const now = this.clock.monotonic();
    const { milestone } = this;
    if (milestone !== undefined && now >= milestone.at) {
      this.milestone = undefined;
      milestone.reached();
    }
    const stalled = this.stalls.stalledMs - this.stalledBefore;
    const left = this.timeoutMs + stalled + this.excluded - (now - this.startedAt);
    if (left > 0.5) this.timer = this.arm(left);
    else this.abort.abort(new ProbeTimeoutError(this.timeoutMs));
  }
}
