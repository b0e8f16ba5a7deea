// A limit of parallel calls that follows their service time. Calls that compete for processors take longer when more of
// them run, and all of them end late together; with fewer at once the first ones end early. Calls that wait for
// something else, such as a network plugin, take the same time in parallel. The estimate is that of TCP Vegas
// (https://doi.org/10.1109/49.464716).
// Invariant: the limit is between `least` and `most`.

/** Calls whose shortest time counts as the time without competition. */
const REMEMBERED = 64;
/** Below this estimate of competing calls the limit grows, above the second one it falls. */
const FEW = 1;
const MANY = 3;
/** Change of the limit by as many calls as the limit has. */
const STEP = 2;

export class ServiceLimit {
  private limit: number;
  /** Milliseconds of the last calls that succeeded, a ring. */
  private readonly durations: number[] = [];
  private next = 0;

  /** Throws RangeError unless 1 <= least <= most, both whole numbers. */
  constructor(
    private readonly least: number,
    private readonly most: number,
  ) {
    if (!Number.isInteger(least) || !Number.isInteger(most) || least < 1 || most < least) {
      throw new RangeError(
        `a concurrency limit from ${least} to ${most}: give whole numbers from 1, the lower one first`,
      );
    }
    this.limit = least;
  }

  get current(): number {
    return Math.floor(this.limit);
  }

  /** A call succeeded in this time. @param isFull calls wait, so the limit decides how many run */
  ended(durationMs: number, isFull: boolean): void {
    this.durations[this.next] = durationMs;
    this.next = (this.next + 1) % REMEMBERED;
    const shortest = Math.min(...this.durations);
    const competing = durationMs <= 0 ? 0 : this.limit * (1 - shortest / durationMs);
    if (competing > MANY) this.set(this.limit - STEP / this.limit);
    else if (competing < FEW && isFull) this.set(this.limit + STEP / this.limit);
  }

  /** A call takes so long that it probably waits and uses no processor. */
  overdue(): void {
    this.set(this.limit + 1);
  }

  private set(limit: number): void {
    this.limit = Math.min(this.most, Math.max(this.least, limit));
  }
}
