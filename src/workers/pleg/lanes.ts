// Bounded concurrency in lanes: work that has shown itself slow can't use up the places of work that is quick.

export const LANE_FAST = "fast";
export const LANE_SLOW = "slow";
export type Lane = typeof LANE_FAST | typeof LANE_SLOW;

/**
 * Runs jobs, at most `limits[lane]` of a lane at once, first come first served within the lane. Jobs must not reject.
 */
export class Lanes {
  private readonly active: Record<Lane, number> = { fast: 0, slow: 0 };
  private readonly waiting: Record<Lane, (() => Promise<void>)[]> = { fast: [], slow: [] };

  constructor(private readonly limits: Record<Lane, number>) {}

  run(lane: Lane, job: () => Promise<void>): void {
    this.waiting[lane].push(job);
    this.pump(lane);
  }

  private pump(lane: Lane): void {
    while (this.active[lane] < this.limits[lane]) {
      const job = this.waiting[lane].shift();
      if (job === undefined) return;
      this.active[lane]++;
      void job().finally(() => {
        this.active[lane]--;
        this.pump(lane);
      });
    }
  }
}
