// Logs an error that occurs again and again once, and once that it no longer occurs.
import type { Logger } from "../../shared/log/logger.js";

export class RepeatedErrorLog {
  private readonly known = new Set<string>();

  constructor(private readonly log: Pick<Logger, "warn" | "info">) {}

  /** @param what A whole sentence: what was tried, what happens now. */
  report(key: string, what: string, error?: unknown): void {
    if (this.known.has(key)) return;
    this.known.add(key);
    this.log.warn(error === undefined ? {} : { err: error }, what);
  }

  resolved(key: string, what: string): void {
    if (this.known.delete(key)) this.log.info({}, what);
  }
}
