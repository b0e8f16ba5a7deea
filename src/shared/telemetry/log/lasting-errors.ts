// Errors that last: each is logged when it begins, when its text changes, as a reminder, and when it is resolved.

import type { Clock } from "../../base/clock/clock.js";
import type { Logger } from "./logger.js";

export interface LastingErrorsDeps {
  clock: Pick<Clock, "monotonic">;
  log: Pick<Logger, "warn" | "error" | "info">;
  /** Severity of the reports. */
  level: "warn" | "error";
  /** Milliseconds after which an unchanged error is logged again, 60,000 by default; Infinity: never. */
  remindMs?: number | undefined;
}

export class LastingErrors {
  private readonly reported = new Map<string, { text: string; at: number }>();

  constructor(private readonly deps: LastingErrorsDeps) {}

  /**
   * @param key the action that fails; each key lasts on its own
   * @param text a whole sentence: the failed action, and the consequence
   */
  report(key: string, text: string, error?: unknown): void {
    const { clock, log, level, remindMs = 60_000 } = this.deps;
    const at = clock.monotonic();
    const last = this.reported.get(key);
    if (last?.text === text && at - last.at < remindMs) return;
    this.reported.set(key, { text, at });
    log[level](error === undefined ? {} : { err: error }, text);
  }

  /** Silent if the action had not failed. */
  resolved(key: string, text: string): void {
    if (this.reported.delete(key)) this.deps.log.info({}, text);
  }
}
