// A repeated task: each round is started by a period, by the result of the previous round, or on request.
// Invariant: one round at a time; a failed round does not end the loop; a request during a round causes one more
// round. Repeated tasks with other rules keep their own timers. LogRotation, Refresher, TimerWheel, StatusManager and
// MirrorManager have one due time per entry. QosUpdates, CpuReconciler, LocalWatch and Eviction have two kinds of
// rounds. ImageGc has rounds in one queue with other calls. Settle and WatchedFiles have a settling time. Reflector
// and EventStream keep connections open.

import { Lifetime } from "../abort/lifetime.js";
import type { Clock, Timer } from "../clock/clock.js";

export interface LoopOptions {
  /**
   * One round. It must obey the signal, which `stop` aborts. Resolves to the wait until the next round, ms; to
   * undefined when the next round begins one period after this one began.
   */
  round: (signal: AbortSignal) => Promise<number | undefined>;
  /** From the beginning of one round to the next, ms. Infinity: rounds run only on request. */
  periodMs: number | (() => number);
  /**
   * Least time between two beginnings, ms. Requests before it has passed are one. Absent: a request begins a round at
   * once.
   */
  gapMs?: number;
  /** A round rejected, and the loop was not stopped. Must not throw. Returns as `round` resolves. */
  failed: (error: unknown) => number | undefined;
  clock: Clock;
}

export class Loop {
  private timer: Timer | undefined;
  private running: Promise<void> | undefined;
  private again = false;
  private begunAt: number | undefined;
  private started = false;
  private readonly lifetime = new Lifetime();

  constructor(private readonly options: LoopOptions) {}

  /** The first round begins now, or after a wait, ms. */
  start(afterMs = 0): void {
    if (this.lifetime.hasEnded) return;
    this.started = true;
    if (afterMs === 0) this.startRounds();
    else this.wakeIn(afterMs);
  }

  /** Requests a round. Does nothing before `start`. */
  requestRound(): void {
    if (this.lifetime.hasEnded || !this.started) return;
    const { gapMs, clock } = this.options;
    if (this.running !== undefined) this.again = true;
    else if (gapMs === undefined) this.startRounds();
    else this.wakeIn((this.begunAt ?? -Infinity) + gapMs - clock.monotonic());
  }

  /** Resolves when no round runs and none was requested meanwhile. */
  async settled(): Promise<void> {
    await this.running;
  }

  /** Resolves when the round that runs has ended. */
  async stop(): Promise<void> {
    this.lifetime.end();
    this.timer?.cancel();
    await this.running;
  }

  private startRounds(): void {
    this.timer?.cancel();
    this.running = this.rounds();
  }

  /** Was a round requested while one was running? */
  private get requested(): boolean {
    return this.again;
  }

  /** Never rejects. */
  private async rounds(): Promise<void> {
    const { signal } = this.lifetime;
    const { gapMs, periodMs, clock } = this.options;
    let waitMs: number | undefined;
    do {
      this.again = false;
      this.begunAt = clock.monotonic();
      waitMs = await this.round();
    } while (this.requested && gapMs === undefined && !signal.aborted);
    // In the same turn as the check above: a request that comes later begins another round.
    this.running = undefined;
    if (signal.aborted) return;
    const rest = gapMs === undefined ? 0 : this.begunAt + gapMs - clock.monotonic();
    if (this.requested) {
      this.wakeIn(rest);
      return;
    }
    const period = typeof periodMs === "number" ? periodMs : periodMs();
    this.wakeIn(Math.max(rest, waitMs ?? this.begunAt + period - clock.monotonic()));
  }

  private async round(): Promise<number | undefined> {
    const { signal } = this.lifetime;
    try {
      return await this.options.round(signal);
    } catch (error) {
      return signal.aborted ? undefined : this.options.failed(error);
    }
  }

  private wakeIn(ms: number): void {
    this.timer?.cancel();
    if (ms === Infinity) return;
    this.timer = this.options.clock.after(Math.max(0, ms), () => this.startRounds()).unref();
  }
}
