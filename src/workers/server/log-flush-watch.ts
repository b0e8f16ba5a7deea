// Feeds the log health check: asks the log to flush at intervals and remembers when it last managed to. A log whose
// reader is stuck stops flushing, and the age grows.

import type { Timer, Clock } from "../../shared/base/clock/clock.js";
import type { Logger } from "../../shared/telemetry/log/thread-log.js";

const FLUSH_INTERVAL_MS = 30000;

export class LogFlushWatch {
  private flushedAt: number;
  private readonly timer: Timer;

  constructor(
    log: Pick<Logger, "flush">,
    private readonly clock: Clock,
  ) {
    this.flushedAt = clock.monotonic();
    this.timer = clock.every(FLUSH_INTERVAL_MS, () => {
      log.flush((error) => {
        if (!error) this.flushedAt = clock.monotonic();
      });
    });
    this.timer.unref();
  }

  ageMs(): number {
    return this.clock.monotonic() - this.flushedAt;
  }

  stop(): void {
    this.timer.cancel();
  }
}
