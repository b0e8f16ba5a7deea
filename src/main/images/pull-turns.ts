// Which pull may begin now. At most `limit` pulls go on at once. Critical pods come first; pods of one rank take turns, so that
// a pod with fifty images, or with images of a registry that is down, holds up no other pod.
// Full policy: none of its own. Each waiter is a pod's worker that does nothing else meanwhile, so there are never more of
// them than pods have images; the pod that must go leaves the queue at once.
import { CRITICAL_PRIORITY, type Pod } from "../../shared/api/pod.js";
import { FairTurns, type Turn } from "../../shared/turns/fair-turns.js";

export type PullRank = "critical" | "ordinary";

const CRITICAL_CLASSES: ReadonlySet<string> = new Set(["system-cluster-critical", "system-node-critical"]);

export function pullRank({ spec }: Pick<Pod, "spec">): PullRank {
  const { priority = 0, priorityClassName = "" } = spec;
  return priority >= CRITICAL_PRIORITY || CRITICAL_CLASSES.has(priorityClassName) ? "critical" : "ordinary";
}

export type PullTurn = Pick<Turn, "waited" | "giveBack">;

export class PullTurns {
  private readonly turns: FairTurns;

  /** undefined: as many as are asked for. One pod has half of the turns at most. */
  constructor(limit: number | undefined) {
    this.turns = new FairTurns({ limit, share: limit === undefined ? Infinity : Math.ceil(limit / 2) });
  }

  get waiting(): number {
    return this.turns.waiting;
  }

  /** Rejects with the signal's reason. */
  take(pod: Pick<Pod, "metadata" | "spec">, signal: AbortSignal): Promise<PullTurn> {
    return this.turns.take({ owner: pod.metadata.uid, urgent: pullRank(pod) === "critical", signal });
  }
}
