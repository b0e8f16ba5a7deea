// The pods that the eviction thread receives: admitted and not terminated.
// Invariant: a changed definition gets a new generation only if a field that eviction reads differs. So a label change
// loses no order.

import { isDeepStrictEqual } from "node:util";
import type { EvictionPod } from "../../../shared/contracts/eviction.js";
import { type Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { evictionPodOf } from "./eviction-pod.js";

export interface RunningPod {
  pod: Pod;
  published: EvictionPod;
}

export class RunningPods {
  private readonly pods = new Map<PodUid, RunningPod>();
  private generation = 0;

  constructor(private readonly rootDir: string) {}

  /** The message for the thread; undefined when the thread already has it. @throws InvalidQuantityError */
  set(pod: Pod): EvictionPod | undefined {
    const { uid } = pod.metadata;
    const known = this.pods.get(uid);
    // All that eviction reads is in the spec, and in what never changes of the metadata.
    if (known !== undefined && known.pod.spec === pod.spec) {
      this.pods.set(uid, { pod, published: known.published });
      return undefined;
    }
    const before = known?.published;
    const now = evictionPodOf(pod, this.rootDir);
    const same = before !== undefined && isDeepStrictEqual({ ...now, generation: before.generation }, before);
    const published = same ? before : { ...now, generation: ++this.generation };
    this.pods.set(uid, { pod, published });
    return same ? undefined : published;
  }

  /** @returns false when it was over already */
  remove(uid: PodUid): boolean {
    return this.pods.delete(uid);
  }

  get(uid: PodUid): RunningPod | undefined {
    return this.pods.get(uid);
  }

  all(): EvictionPod[] {
    return [...this.pods.values()].map(({ published }) => published);
  }
}
