// The trial of a configuration. It passes once the kubelet was healthy under it for the whole duration without a gap.
// It fails if the kubelet never gets healthy. Unhealthy spells after it was healthy only begin the time anew: they are
// more likely the machine's than the configuration's.

import type { Clock, Timer } from "../../../shared/base/clock/clock.js";

/** Default of configTrialDuration, the field of old. */
const TRIAL_MS = 10 * 60_000;
/** A kubelet that is not healthy this long after its start has failed. */
const NEVER_HEALTHY_MS = 5 * 60_000;
const HEALTH_LOOK_MS = 5_000;

export interface TrialOptions {
  readonly clock: Clock;
  readonly healthy: () => boolean;
  readonly onPassed: () => void;
  readonly onNeverHealthy: () => void;
}

export class TrialWatch {
  private timer: Timer | undefined;
  private unhealthyMs = 0;
  /** Undefined while it is not healthy. */
  private healthyMs: number | undefined;
  private lookedAt: number;
  private wasHealthy = false;

  constructor(private readonly options: TrialOptions) {
    this.lookedAt = options.clock.monotonic();
    this.timer = options.clock.every(HEALTH_LOOK_MS, () => this.checkHealth()).unref();
  }

  /** True once the kubelet was healthy under this configuration. */
  get everHealthy(): boolean {
    return this.wasHealthy || this.options.healthy();
  }

  stop(): void {
    this.timer?.cancel();
    this.timer = undefined;
  }

  private checkHealth(): void {
    const { clock, healthy, onPassed, onNeverHealthy } = this.options;
    const now = clock.monotonic();
    // A process that was stopped in between was not proven healthy all that time.
    const passed = Math.min(now - this.lookedAt, 2 * HEALTH_LOOK_MS);
    this.lookedAt = now;
    if (!healthy()) {
      this.healthyMs = undefined;
      this.unhealthyMs += passed;
      if (this.wasHealthy || this.unhealthyMs < NEVER_HEALTHY_MS) return;
      this.stop();
      onNeverHealthy();
      return;
    }
    this.wasHealthy = true;
    // The first healthy check proves nothing about the time before it.
    this.healthyMs = this.healthyMs === undefined ? 0 : this.healthyMs + passed;
    if (this.healthyMs < TRIAL_MS) return;
    this.stop();
    onPassed();
  }
}
