// While the API server does not respond, one call at a time is tried, with a back-off, until one succeeds.

import type { Clock, Timer } from "../../../../shared/base/clock/clock.js";
import { Backoff } from "../../../../shared/base/turns/backoff.js";
import { ApiError, isRetriable } from "../../../../shared/kubernetes/api/client/errors.js";
import { errorText } from "../../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../../shared/telemetry/log/logger.js";

const RETRY = { initialMs: 250, maxMs: 10_000 };

export class Outage {
  private readonly backoff = new Backoff(RETRY);
  private timer: Timer | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly log: Logger,
    private readonly onTry: () => void,
  ) {}

  /** The number of concurrent calls that are allowed. */
  limit(most: number): number {
    if (this.timer !== undefined) return 0;
    return this.backoff.failures > 0 ? 1 : most;
  }

  onFailure(error: unknown): void {
    if (this.timer !== undefined) return;
    if (this.backoff.failures === 0) {
      this.log.warn({ err: error }, `cannot reach the API server; pod statuses wait: ${errorText(error)}`);
    }
    this.timer = this.clock.after(this.backoff.next(), () => {
      this.timer = undefined;
      this.onTry();
    });
  }

  /** The server has responded. */
  onResponse(): void {
    if (this.backoff.failures === 0) return;
    this.backoff.reset();
    this.log.info("the API server responds again; sending pod statuses");
    this.stop();
    this.onTry();
  }

  stop(): void {
    this.timer?.cancel();
    this.timer = undefined;
  }
}

/** The server is unavailable for all clients. */
export function isOutage(error: unknown): boolean {
  return isRetriable(error) && !(error instanceof ApiError && error.status === 500);
}
