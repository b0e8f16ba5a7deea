// Logs an error that lasts: when it begins, when its text changes, once a minute, and when it is resolved.

import type { Clock } from "../../shared/base/clock/clock.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";

const REMIND_MS = 60_000;

export class LastingErrorLog {
  private reported = "";
  private reportedAt = -Infinity;

  constructor(
    private readonly clock: Pick<Clock, "monotonic">,
    private readonly log: Pick<Logger, "error" | "info">,
  ) {}

  report(what: string): void {
    const now = this.clock.monotonic();
    if (what === this.reported && now - this.reportedAt < REMIND_MS) return;
    this.reported = what;
    this.reportedAt = now;
    this.log.error(what);
  }

  /** Silent when there was none. */
  resolved(words: string): void {
    if (this.reported !== "") this.log.info(words);
    this.reported = "";
  }
}
