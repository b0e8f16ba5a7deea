// Measures the time without a heartbeat of another thread. Only time in which this thread itself ran counts. After a
// stopped process or a paused machine, old stamps prove nothing.

/** An age grows by no more than this many periods between two checks. */
const LATE_PERIODS = 2;

export class SilenceTimer {
  private silentMs = 0;
  private lookedAt: number | undefined;

  /** `periodMs`: interval of the checks. */
  constructor(private readonly periodMs: number) {}

  /**
   * `ageMs`: age of the newest sign by the clock; Infinity before the first. Returns the length of the silence in ms.
   */
  observe(ageMs: number, nowMs: number): number {
    const passed = nowMs - (this.lookedAt ?? nowMs);
    this.lookedAt = nowMs;
    if (ageMs === Infinity) return (this.silentMs = Infinity);
    const counted = this.silentMs + Math.min(passed, LATE_PERIODS * this.periodMs);
    // After a new stamp and at the first check, the age is right, except after a sleep of this thread.
    const first = this.silentMs === Infinity || passed === 0;
    return (this.silentMs = first ? ageMs : Math.min(ageMs, counted));
  }
}
