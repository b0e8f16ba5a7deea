// The activities of a soak. Invariant: an activity leaves as much behind after its thousandth round as
// after its first; a round that fails is counted, and does not end the others.

import { sleep } from "../../tools/standalone/wait.js";

export interface Activity extends AsyncDisposable {
  readonly name: string;
  /** Least time from the end of one round to the next, ms. */
  readonly pauseMs: number;
  /** Rejects when something did not go as ordered. */
  round(): Promise<void>;
}

export class Rounds {
  done = 0;
  failed = 0;
  /** The last failure's words. */
  failure: string | undefined;
  private due = 0;

  constructor(private readonly activity: Activity) {}

  get name(): string {
    return this.activity.name;
  }

  /** Rounds until the time comes; the one under way is seen through. */
  async goOn(until: number): Promise<void> {
    while (performance.now() < until) {
      if (performance.now() < this.due) {
        await sleep(Math.min(this.due, until) - performance.now());
        continue;
      }
      try {
        await this.activity.round();
        this.done++;
      } catch (error) {
        this.failed++;
        this.failure = error instanceof Error ? error.message : String(error);
      }
      this.due = performance.now() + this.activity.pauseMs;
    }
  }
}
