// Restart delay of a thread that exited. Exponential back-off with jitter; a healthy run resets it.
// Invariant: at most maxRestarts restarts after failures lie between two healthy runs. An exit for a deadline is none:
// on a machine without processor time every deadline passes, and a new process would have no more of it.

import { backoffMs } from "../../shared/base/turns/backoff.js";

export interface RestartOptions {
  /** Delay before the first restart, ms; doubles with each further one. */
  baseMs: number;
  /** Longest delay before jitter, ms. */
  maxMs: number;
  /** Share of the delay that is random, 0 to 1: the delay is within [d·(1−jitter), d]. */
  jitter: number;
  /** A run of this long, ms, is healthy. */
  healthyAfterMs: number;
  /** Restarts after failures without a healthy run in between, before the supervisor gives up; Infinity: never. */
  maxRestarts: number;
}

export type RestartDecision = { restart: true; delayMs: number } | { restart: false; attempts: number };

/** A thread ended because it had failed, or because a deadline had passed. */
type ExitKind = "failed" | "late";

export class RestartPolicy {
  private failures = 0;
  private lateExits = 0;

  constructor(
    private readonly options: RestartOptions,
    private readonly random: () => number = Math.random,
  ) {}

  /** A run came to its end in order. */
  rested(): void {
    this.failures = 0;
  }

  /** @param ranForMs How long the thread was running, ms; 0 when it never was. */
  exited(ranForMs: number, kind: ExitKind = "failed"): RestartDecision {
    if (ranForMs >= this.options.healthyAfterMs) {
      this.failures = 0;
      this.lateExits = 0;
    }
    if (kind === "late") this.lateExits++;
    else this.failures++;
    if (kind === "failed" && this.failures > this.options.maxRestarts)
      return { restart: false, attempts: this.failures };
    const { baseMs, maxMs, jitter } = this.options;
    const backoff = { initialMs: baseMs, maxMs, spread: [1, 1 - jitter], random: this.random } as const;
    return { restart: true, delayMs: backoffMs(backoff, this.failures + this.lateExits) };
  }
}
