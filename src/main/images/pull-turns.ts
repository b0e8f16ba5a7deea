// Who may pull now. At most `limit` pulls go on at once; who must wait is served in the order of rank, then of arrival, so
// that what the node itself needs is not behind a hundred ordinary pods.
// Full policy: none of its own. Each waiter is a pod's worker that does nothing else meanwhile, so there are never more of
// them than pods have images; the pod that must go leaves the queue at once.
import { CRITICAL_PRIORITY, type Pod } from "../../shared/api/pod.js";

export type PullRank = "critical" | "ordinary";

const CRITICAL_CLASSES: ReadonlySet<string> = new Set(["system-cluster-critical", "system-node-critical"]);

export function pullRank({ spec }: Pick<Pod, "spec">): PullRank {
  const { priority = 0, priorityClassName = "" } = spec;
  return priority >= CRITICAL_PRIORITY || CRITICAL_CLASSES.has(priorityClassName) ? "critical" : "ordinary";
}

export interface PullTurn {
  /** Others were served first. */
  waited: boolean;
  /** Once counts. */
  giveBack: () => void;
}

export class PullTurns {
  private readonly waiters = { critical: new Set<() => void>(), ordinary: new Set<() => void>() };
  private running = 0;

  /** undefined: as many as are asked for. */
  constructor(private readonly limit: number | undefined) {}

  get waiting(): number {
    return this.waiters.critical.size + this.waiters.ordinary.size;
  }

  /** Rejects with the signal's reason. */
  async take(rank: PullRank, signal: AbortSignal): Promise<PullTurn> {
    signal.throwIfAborted();
    const waited = this.limit !== undefined && this.running >= this.limit;
    if (waited) await this.wait(this.waiters[rank], signal);
    else this.running++;
    let held = true;
    const giveBack = (): void => {
      if (held) this.release();
      held = false;
    };
    return { waited, giveBack };
  }

  private async wait(queue: Set<() => void>, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        queue.delete(enter);
        signal.removeEventListener("abort", onAbort);
      };
      const enter = (): void => {
        leave();
        resolve();
      };
      const onAbort = (): void => {
        leave();
        reject(signal.reason instanceof Error ? signal.reason : new Error("aborted"));
      };
      signal.addEventListener("abort", onAbort, { once: true });
      queue.add(enter);
    });
  }

  private release(): void {
    const [next] = this.waiters.critical.size > 0 ? this.waiters.critical : this.waiters.ordinary;
    if (next === undefined) this.running--;
    else next(); // the turn changes hands: running stays
  }
}
