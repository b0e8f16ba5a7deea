// Writes one log line for all watches that an unreachable server interrupts, instead of one for each. Pods refer to
// hundreds of objects, and each has its own watch.

import type { ClientLog } from "../credentials/identity.js";
import { ApiConnectionError, ApiError } from "../errors.js";

/** A load balancer in front of an unavailable server responds with one of these. */
const AWAY = new Set([429, 502, 503, 504]);

export class SharedOutage {
  private readonly failing = new Set<object>();

  constructor(private readonly log: ClientLog) {}

  /** @returns false when the failure is the watch's own affair */
  failed(watch: object, error: Error): boolean {
    if (!(error instanceof ApiConnectionError) && !(error instanceof ApiError && AWAY.has(error.status))) return false;
    if (this.failing.size === 0) {
      this.log.warn({ err: error }, "Failed to watch objects of the API server; trying again");
    }
    this.failing.add(watch);
    return true;
  }

  /** The watch works again, or is given up. */
  over(watch: object): void {
    if (this.failing.delete(watch) && this.failing.size === 0) {
      this.log.info("Watching all objects that pods refer to again");
    }
  }
}
