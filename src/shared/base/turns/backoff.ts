// Exponential back-off: each failure in a row waits longer than the one before, up to a limit.
// Invariant: the wait is finite however many failures there were.

import { invariant } from "../errors/invariant.js";

export interface BackoffOptions {
  /** Wait after the first failure, ms. */
  initialMs: number;
  /** Longest wait before it is spread, ms. Absent: no limit. */
  maxMs?: number;
  /** Ratio of two waits in a row. Default 2. */
  factor?: number;
  /** The wait is a random share of its length between these two. Default [1, 1]: exact. */
  spread?: readonly [number, number];
  random?: () => number;
}

/** Keeps the power finite. */
const MAX_STEPS = 50;

/** The wait after so many failures in a row, from 1. */
export function backoffMs(options: BackoffOptions, failures: number): number {
  const { initialMs, maxMs = Infinity, factor = 2, spread: [from, to] = [1, 1], random = Math.random } = options;
  const waitMs = Math.min(initialMs * factor ** Math.min(failures - 1, MAX_STEPS), maxMs);
  invariant(Number.isFinite(waitMs), "a wait is finite");
  return from === to ? waitMs * from : waitMs * (from + (to - from) * random());
}

export class Backoff {
  private count = 0;

  constructor(private readonly options: BackoffOptions) {}

  /** Failures since the last reset. */
  get failures(): number {
    return this.count;
  }

  /** Counts one more failure. Returns the wait after it, ms. */
  next(): number {
    return backoffMs(this.options, ++this.count);
  }

  reset(): void {
    this.count = 0;
  }
}
