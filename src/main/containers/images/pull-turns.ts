// The order of pulls. At most `limit` pulls run at once. Critical pods come first; pods of one rank take turns. So a
// pod with fifty images, or with images of a registry that is down, delays no other pod. The queue needs no limit. Each
// waiter is a blocked pod worker, so there are at most as many as images of pods. A terminating pod leaves the queue at
// once.

import { type Turn, FairTurns } from "../../../shared/base/turns/fair-turns.js";
import { type Pod, CRITICAL_PRIORITY } from "../../../shared/kubernetes/api/pod.js";

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
