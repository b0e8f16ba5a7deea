// Limit of concurrent long requests of one kind, on the node and for one pod.
// Invariant: one pod has at most half of the node's places. So clients of one pod do not block those of another.

import type { PodUid } from "../../../shared/kubernetes/identifiers.js";

export class PodShares {
  private taken = 0;
  private readonly byPod = new Map<PodUid, number>();

  /** @param limit of the node */
  constructor(private readonly limit: number) {}

  get size(): number {
    return this.taken;
  }

  /** The scope whose limit is reached; undefined: the pod may start one more request. */
  full(pod: PodUid): "on this node" | "in this pod" | undefined {
    if (this.taken >= this.limit) return "on this node";
    return (this.byPod.get(pod) ?? 0) >= this.limit / 2 ? "in this pod" : undefined;
  }

  /** Takes a place. @returns a function that releases it; further calls have no effect */
  take(pod: PodUid): () => void {
    this.taken++;
    this.byPod.set(pod, (this.byPod.get(pod) ?? 0) + 1);
    let given = false;
    return () => {
      if (given) return;
      given = true;
      this.taken--;
      const left = (this.byPod.get(pod) ?? 0) - 1;
      if (left > 0) this.byPod.set(pod, left);
      else this.byPod.delete(pod);
    };
  }
}
