// A costly result, shared by all requests while it is computed and for a time after it. It is dropped at the end of
// that time: a page of 100 pods is some megabytes.

import type { Clock } from "../../../shared/base/clock/clock.js";

export class Shared<T> {
  private last: { at: number; answer: Promise<T> } | undefined;

  constructor(
    private readonly lifeMs: number,
    private readonly clock: Pick<Clock, "monotonic" | "after">,
    private readonly make: () => Promise<T>,
  ) {}

  /** Rejects as `make` does; the next call then makes the result again. */
  get(): Promise<T> {
    const at = this.clock.monotonic();
    if (this.last === undefined || at - this.last.at >= this.lifeMs) {
      const answer = this.make();
      this.last = { at, answer };
      const forget = (): void => {
        if (this.last?.answer === answer) this.last = undefined;
      };
      answer.catch(forget);
      this.clock.after(this.lifeMs, forget).unref();
    }
    return this.last.answer;
  }
}
