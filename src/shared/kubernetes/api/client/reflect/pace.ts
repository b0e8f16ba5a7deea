// Delay of a reflector's next request: none after a watch of useful length, else growing, as in client-go's reflector.
// Invariant: however a server behaves, requests do not come faster than about one a second for long.

import type { Clock } from "../../../../base/clock/clock.js";
import { backoffMs } from "../../../../base/turns/backoff.js";

/** The first wait is 0.8 to 1.6 s, the longest 15 to 30 s. */
const RETRY = { initialMs: 1600, maxMs: 30_000, spread: [1, 0.5] } as const;
/** After this time without failures, waits start again at the shortest. */
const HEALTHY_MS = 120_000;
/** A watch that ends sooner did not do its work. */
const SHORT_MS = 1000;
/** Doublings of the wait that a watch which brought something takes back. */
const FORGIVEN = 2;
/** Longer than any call takes to fail. */
const LONG_MS = 35_000;

/** The result of one round of listing and watching. */
export interface Round {
  livedMs: number;
  /** Events and bookmarks. */
  received: number;
  /**
   * "end": the server ended the watch; "broken": the connection failed; "anew": the next request differs
   * from the last; "failed": the server refused.
   */
  how: "end" | "broken" | "anew" | "failed";
}

export class Pace {
  private waits = 0;
  private lastWaitAt = -Infinity;
  private wasShort = false;
  private lastAnewAt = -Infinity;
  /** In a row, each soon after the one before. */
  private anews = 0;

  constructor(
    private readonly clock: Clock,
    private readonly random: () => number,
  ) {}

  /** Milliseconds until the next request. */
  after(round: Round): number {
    const now = this.clock.monotonic();
    const { livedMs, received } = round;
    // A server that fails now and then is not down: each success cancels one failure.
    if (livedMs >= SHORT_MS && received > 0) this.waits = Math.max(0, this.waits - FORGIVEN);
    if (round.how === "anew") return this.anew(livedMs, now);
    if (this.isWorthwhile(round)) return 0;
    if (now - this.lastWaitAt > HEALTHY_MS) this.waits = 0;
    const waitMs = this.wait(this.waits);
    this.waits += 1;
    this.lastWaitAt = now + waitMs;
    return waitMs;
  }

  /** The server is reachable: the earlier waits for it do not delay the next list. */
  private anew(livedMs: number, now: number): number {
    this.wasShort = livedMs < SHORT_MS;
    const isRare = now - this.lastAnewAt > LONG_MS;
    this.lastAnewAt = now;
    this.anews = isRare ? 0 : this.anews + 1;
    return isRare ? 0 : this.wait(this.anews - 1);
  }

  private wait(doublings: number): number {
    return backoffMs({ ...RETRY, random: this.random }, doublings + 1);
  }

  private isWorthwhile({ livedMs, received, how }: Round): boolean {
    const wasShort = this.wasShort;
    this.wasShort = livedMs < SHORT_MS;
    switch (how) {
      case "end":
        return this.wasShort ? received > 0 && !wasShort : true;
      case "broken":
        return livedMs >= LONG_MS || (!this.wasShort && received > 0);
      case "anew":
      case "failed":
        return false;
    }
  }
}
