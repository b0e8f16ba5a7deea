// How long another thread has been quiet, counted in time that this thread itself was awake: a process that was stopped, or
// a machine that was paused, says nothing about its threads.

/** An age grows by no more than this many periods from one look to the next. */
const LATE_PERIODS = 2;

export class SilenceTimer {
  private silentMs = 0;
  private lookedAt: number | undefined;

  /** `periodMs`: of the looks. */
  constructor(private readonly periodMs: number) {}

  /** `ageMs`: of the newest sign as the clock has it; Infinity while there was none. Returns how long it is quiet, ms. */
  look(ageMs: number, nowMs: number): number {
    const passed = nowMs - (this.lookedAt ?? nowMs);
    this.lookedAt = nowMs;
    if (ageMs === Infinity) return (this.silentMs = Infinity);
    const counted = this.silentMs + Math.min(passed, LATE_PERIODS * this.periodMs);
    // A sign since the last look, or the first look of all: the clock is right unless it counts a sleep of ours.
    const first = this.silentMs === Infinity || passed === 0;
    return (this.silentMs = first ? ageMs : Math.min(ageMs, counted));
  }
}
