// A limit of parallel calls that follows the idle processors of the machine. Calls that compete for processors end late
// together; with few at once the first ones end early, and the last one is no later. While processors are idle, calls
// wait for something else, such as a network plugin, and more of them run at once.
// Invariant: the limit is between `least` and `most`.

/** From so many idle processors on, the limit grows. */
const ROOM = 0.5;
/** Below so many it falls. */
const NONE = 0.2;

export class IdleLimit {
  private limit: number;

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
    return this.limit;
  }

  /** @param idle processors without work in the last moment, while calls waited; a call uses one at most */
  observe(idle: number): void {
    if (idle >= ROOM) this.limit = Math.min(this.most, this.limit + Math.max(1, Math.floor(idle)));
    else if (idle < NONE) this.limit = Math.max(this.least, this.limit - 1);
  }

  /** No call waits any more: the next burst begins with few. */
  reset(): void {
    this.limit = this.least;
  }
}
