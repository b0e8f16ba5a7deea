// Handles errors that no caller caught, in a thread that continues after them (docs/adr/0040). Each is logged with its
// stack and counted.
// Invariant: more errors per minute than the limit terminate the thread. Its state can't be trusted then, and its next
// start begins with a new state.

import type { Clock } from "../base/clock/clock.js";
import type { Logger } from "../telemetry/log/logger.js";

export type UncaughtOrigin = "exception" | "rejection";

export interface UncaughtOptions {
  clock: Pick<Clock, "monotonic">;
  log: Pick<Logger, "error">;
  /** For metrics. */
  onError: (origin: UncaughtOrigin) => void;
  /** The thread, or the process, can't continue. */
  end: (error: unknown) => void;
}

const MINUTE_MS = 60_000;
/** Uncaught errors in a minute that a thread outlives. */
const MAX_PER_MINUTE = 20;

export class UncaughtErrors {
  /** Times of the last errors, oldest first, by the monotonic clock. */
  private readonly times: number[] = [];
  private readonly logged = new Map<string, number>();

  constructor(private readonly options: UncaughtOptions) {}

  caught(error: unknown, origin: UncaughtOrigin): void {
    const { clock, onError, end } = this.options;
    const now = clock.monotonic();
    onError(origin);
    while (this.times[0] !== undefined && now - this.times[0] >= MINUTE_MS) this.times.shift();
    this.times.push(now);
    if (this.times.length > MAX_PER_MINUTE) {
      end(error);
      return;
    }
    this.report(error, origin, now);
  }

  /** Logs an error, at most once a minute for one stack. */
  private report(error: unknown, origin: UncaughtOrigin, now: number): void {
    const key = error instanceof Error ? (error.stack ?? error.message) : String(error);
    for (const [known, at] of this.logged) if (now - at >= MINUTE_MS) this.logged.delete(known);
    if (this.logged.has(key)) return;
    this.logged.set(key, now);
    const what = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    // At every verbosity: an issue needs it, and the error may not come again.
    const stack = error instanceof Error ? error.stack : undefined;
    this.options.log.error(
      { err: error, origin, stack },
      `uncaught error, the thread continues: ${what}; this is a bug of the kubelet, please report it`,
    );
  }
}
