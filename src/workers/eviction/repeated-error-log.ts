// Logs a repeated error once, and its end once.

import type { Logger } from "../../shared/telemetry/log/logger.js";

export class RepeatedErrorLog {
  private readonly known = new Set<string>();

  constructor(private readonly log: Pick<Logger, "warn" | "info">) {}

  /** @param what a whole sentence: the failed action, and the consequence. */
  report(key: string, what: string, error?: unknown): void {
    if (this.known.has(key)) return;
    this.known.add(key);
    this.log.warn(error === undefined ? {} : { err: error }, what);
  }

  resolved(key: string, what: string): void {
    if (this.known.delete(key)) this.log.info({}, what);
  }
}
