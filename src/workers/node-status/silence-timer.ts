// Measures how long another thread has sent no sign of life. Only time in which this thread itself ran counts: after a stopped
// process or a paused machine, old stamps prove nothing about the thread.

/** An age grows by no more than this many periods from one look to the next. */
const LATE_PERIODS = 2;

export class SilenceTimer {
  private silentMs = 0;
  private lookedAt: number | undefined;

  /** `periodMs`: of the looks. */
  constructor(private readonly periodMs: number) {}

  /** `ageMs`: age of the newest sign by the clock; Infinity before the first. Returns the length of the silence in ms. */
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
