// Rate limit of pulls (registryPullQPS, registryBurst): a bucket of `burst` tokens that fills by `qps` a second. A pull
// without a token fails at once and is repeated after its back-off: a node that starts a hundred pods must not flood a
// registry.
import type { Clock } from "../../shared/clock/clock.js";
import { CRITICAL_PRIORITY, type Pod } from "../../shared/api/pod.js";
import { FairTurns, type Turn } from "../../shared/turns/fair-turns.js";

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

// The order of pulls. At most `limit` pulls run at once. Critical pods come first; pods of one rank take turns, so that
// a pod with fifty images, or with images of a registry that is down, delays no other pod.
// Full policy: none. Each waiter is a pod worker that does nothing else meanwhile, so there are never more waiters than
// images of pods; a terminating pod leaves the queue at once.

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
