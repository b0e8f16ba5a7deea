// The limits of pulls: their rate (registryPullQPS, registryBurst), their order, and the back-off after a failure. The rate: a bucket of
// `burst` tokens that fills by `qps` a second. A pull without a token fails at once and is repeated after its back-off. So a node that
// starts a hundred pods does not flood a registry.
import type { Clock } from "../../shared/clock/clock.js";
import { CRITICAL_PRIORITY, type Pod } from "../../shared/api/pod.js";
import { FairTurns, type Turn } from "../../shared/turns/fair-turns.js";
import { CrashBackoff } from "../planner/crash-backoff.js";

export class PullRateError extends Error {
  override readonly name = "PullRateError";
  constructor() {
    super("pull QPS exceeded");
  }
}

export function isPullRateError(error: unknown): error is PullRateError {
  return error instanceof PullRateError;
}

export class PullRate {
  private tokens: number;
  private filledAt: number;

  /** qps 0: no limit. */
  constructor(
    private readonly qps: number,
    private readonly burst: number,
    private readonly clock: Pick<Clock, "monotonic">,
  ) {
    this.tokens = burst;
    this.filledAt = clock.monotonic();
  }

  /** Takes a token. Throws PullRateError when there is none. */
  acquire(): void {
    if (this.qps <= 0) return;
    const now = this.clock.monotonic();
    this.tokens = Math.min(this.burst, this.tokens + ((now - this.filledAt) / 1000) * this.qps);
    this.filledAt = now;
    if (this.tokens < 1) throw new PullRateError();
    this.tokens--;
  }
}

// The order of pulls. At most `limit` pulls run at once. Critical pods come first; pods of one rank take turns. So a pod with fifty images,
// or with images of a registry that is down, delays no other pod. The queue needs no limit. Each waiter is a blocked pod worker, so there
// are at most as many as images of pods. A terminating pod leaves the queue at once.

type PullRank = "critical" | "ordinary";

const CRITICAL_CLASSES: ReadonlySet<string> = new Set(["system-cluster-critical", "system-node-critical"]);

/** @internal */
export function pullRank({ spec }: Pick<Pod, "spec">): PullRank {
  const { priority = 0, priorityClassName = "" } = spec;
  return priority >= CRITICAL_PRIORITY || CRITICAL_CLASSES.has(priorityClassName) ? "critical" : "ordinary";
}

export type PullTurn = Pick<Turn, "waited" | "release">;

export class PullTurns {
  private readonly turns: FairTurns;

  /** undefined: no limit. One pod has half of the turns at most. */
  constructor(limit: number | undefined) {
    this.turns = new FairTurns({ limit, share: limit === undefined ? Infinity : Math.ceil(limit / 2) });
  }

  get waiting(): number {
    return this.turns.waiting;
  }

  /** Rejects with the signal's reason. */
  acquire(pod: Pick<Pod, "metadata" | "spec">, signal: AbortSignal): Promise<PullTurn> {
    return this.turns.acquire({ owner: pod.metadata.uid, urgent: pullRank(pod) === "critical", signal });
  }
}

// Back-off of pulls, per pod and image: 10 s doubling to 5 min, forgotten after a success. What failed last is kept beside
// it, for the message that stands in for the next try.

/** Upstream's values. */
const PULL_BACKOFF = { baseMs: 10_000, maxMs: 300_000, resetMs: 600_000 };
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
  of(pod: Pod, image: string): (LastFailure & { until: number }) | undefined {
    const key = keyOf(pod, image);
    const waiting = this.steps.inBackoffSinceStep(key, this.clock.steady());
    const failure = this.failures.get(key);
    return waiting === undefined || failure === undefined ? undefined : { ...failure, until: waiting.until };
  }

  /** Returns when the next pull may begin, by the steady clock. */
  failed(pod: Pod, image: string, failure: LastFailure): number {
    const key = keyOf(pod, image);
    const now = this.clock.steady();
    this.failures.set(key, failure);
    const delayMs = this.steps.next(key, now, now);
    if (this.failures.size > COLLECT_ABOVE) this.collect(now);
    return now + delayMs;
  }

  succeeded(pod: Pod, image: string): void {
    const key = keyOf(pod, image);
    this.steps.forget(key);
    this.failures.delete(key);
  }

  private collect(now: number): void {
    this.steps.collect(now);
    for (const key of this.failures.keys()) if (!this.steps.has(key)) this.failures.delete(key);
  }
}

function keyOf({ metadata }: Pod, image: string): string {
  return `${metadata.uid}_${image}`;
}
