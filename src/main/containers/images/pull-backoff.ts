// Back-off of pulls, per pod and image: 10 s doubling to 5 min, forgotten after a success. What failed last is kept
// beside it, for the message that stands in for the next try.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { type SteadyTime, later } from "../../../shared/base/clock/moments.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { CrashBackoff } from "../../model/crash-backoff.js";

/** Upstream's values. */
const PULL_BACKOFF = { baseMs: 10000, maxMs: 300000, resetMs: 600000 };
/** Pods that left for good leave their entries behind; they are dropped when this many have come together. */
const COLLECT_ABOVE = 64;

interface LastFailure {
  /** Waiting reason: ErrImagePull and its kin. */
  reason: string;
  message: string;
}

export class PullBackoff {
  private readonly steps = new CrashBackoff(PULL_BACKOFF);
  private readonly failures = new Map<string, LastFailure>();

  constructor(private readonly clock: Pick<Clock, "steady">) {}

  /** The wait that a pull is in, with what led to it; undefined: it may begin. */
  of(pod: Pod, image: string): (LastFailure & { until: SteadyTime }) | undefined {
    const key = keyOf(pod, image);
    const waiting = this.steps.inBackoffSinceStep(key, this.clock.steady());
    const failure = this.failures.get(key);
    return waiting === undefined || failure === undefined ? undefined : { ...failure, until: waiting.until };
  }

  /** Returns when the next pull may begin. */
  failed(pod: Pod, image: string, failure: LastFailure): SteadyTime {
    const key = keyOf(pod, image);
    const now = this.clock.steady();
    this.failures.set(key, failure);
    const delayMs = this.steps.step(key, now);
    if (this.failures.size > COLLECT_ABOVE) this.collect(now);
    return later(now, delayMs);
  }

  succeeded(pod: Pod, image: string): void {
    const key = keyOf(pod, image);
    this.steps.forget(key);
    this.failures.delete(key);
  }

  private collect(now: SteadyTime): void {
    this.steps.collect(now);
    for (const key of this.failures.keys()) if (!this.steps.has(key)) this.failures.delete(key);
  }
}

function keyOf({ metadata }: Pod, image: string): string {
  return `${metadata.uid}_${image}`;
}
