// Log lines of a long pull, at growing intervals. The runtime reports only the end of a pull, but an operator needs the
// reason of a wait.

import type { Timer, Clock } from "../../../shared/base/clock/clock.js";
import { goDuration } from "../../../shared/base/clock/go-duration.js";
import { quote } from "../../../shared/base/text/quote.js";
import type { Logger } from "../../../shared/telemetry/log/thread-log.js";

const FIRST_MS = 10000;
const LONGEST_MS = 300000;

export class PullProgress {
  private timer: Timer | undefined;
  private intervalMs = FIRST_MS;
  private readonly startedAt: number;
  private pullingSince: number | undefined;

  constructor(
    private readonly deps: { clock: Clock; log: Logger },
    private readonly about: { image: string; pod: string },
    /** Pulls that wait for a turn, this one among them. */
    private readonly waiting: () => number,
  ) {
    this.startedAt = deps.clock.monotonic();
    this.arm();
  }

  /** The pull's turn has come. */
  pulling(): void {
    this.pullingSince = this.deps.clock.monotonic();
  }

  /** Stops the log lines; must be called. */
  end(): void {
    this.timer?.cancel();
  }

  private arm(): void {
    this.timer = this.deps.clock.after(this.intervalMs, () => {
      this.logProgress();
      this.intervalMs = Math.min(this.intervalMs * 2, LONGEST_MS);
      this.arm();
    });
  }

  private logProgress(): void {
    const { clock, log } = this.deps;
    const { image, pod } = this.about;
    const since = (from: number): string => goDuration(Math.round((clock.monotonic() - from) / 1000) * 1000);
    const text =
      this.pullingSince === undefined
        ? `has waited ${since(this.startedAt)} for its turn (${this.waiting()} wait)`
        : `has been going on for ${since(this.pullingSince)}`;
    log.info({ image, pod }, `the pull of image ${quote(image)} for pod ${pod} ${text}`);
  }
}
