// A pull that takes long says so in the log, at growing intervals: the runtime tells nothing of a pull but its end, and an
// operator who looks at a pod that does not start must find out why.
import type { Clock, Timer } from "../../shared/clock/clock.js";
import type { Logger } from "../../shared/log/logger.js";
import { goDuration } from "../../shared/clock/go-duration.js";

const FIRST_MS = 10_000;
const LONGEST_MS = 300_000;

export interface PullProgressDeps {
  clock: Clock;
  log: Logger;
}

export class PullProgress {
  private timer: Timer | undefined;
  private intervalMs = FIRST_MS;
  private readonly startedAt: number;
  private pullingSince: number | undefined;

  constructor(
    private readonly deps: PullProgressDeps,
    private readonly about: { image: string; pod: string },
    /** Pulls that wait for a turn, this one among them. */
    private readonly waiting: () => number,
  ) {
    this.startedAt = deps.clock.monotonic();
    this.arm();
  }

  /** The wait for the turn is over. */
  pulling(): void {
    this.pullingSince = this.deps.clock.monotonic();
  }

  /** Nothing more is said; must be called. */
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
    log.info({ image, pod }, `the pull of image "${image}" for pod ${pod} ${text}`);
  }
}
