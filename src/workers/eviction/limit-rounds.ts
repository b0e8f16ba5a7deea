// Every ten seconds, measures the pods with limits on the node's disk, and evicts those above their limit. No threshold
// has to be met.

import type { Clock } from "../../shared/base/clock/clock.js";
import type { EvictionPod } from "../../shared/contracts/eviction.js";
import { hasStorageLimit, breachOf, hasLocalLimit } from "./breach.js";
import { type DiskLayout, layersOnNodeDisk } from "./layout.js";
import { HARD_GRACE_SECONDS, type Outbox } from "./outbox.js";
import type { PodFigures } from "./pod-figures.js";
import { storageOf } from "./pod-storage.js";
import type { PodStore } from "./pod-store.js";

const PERIOD_MS = 10_000;
const WALK_MS = 2000;

export interface LimitRoundsDeps {
  podStore: PodStore;
  figures: PodFigures;
  outbox: Outbox;
  layout: () => DiskLayout;
  clock: Pick<Clock, "monotonic" | "now">;
}

export class LimitRounds {
  private nextAt = 0;

  constructor(private readonly deps: LimitRoundsDeps) {}

  /** True if there are pods to measure and the interval has passed. */
  get due(): boolean {
    return this.deps.clock.monotonic() >= this.nextAt && this.limited().length > 0;
  }

  /** Never rejects. */
  async round(): Promise<void> {
    const { podStore, figures, outbox, clock } = this.deps;
    this.nextAt = clock.monotonic() + PERIOD_MS;
    const pods = this.limited();
    const uids = pods.map(({ uid }) => uid);
    await figures.measure(uids, PERIOD_MS, WALK_MS, pods.some(hasStorageLimit));
    const layersCount = layersOnNodeDisk(this.deps.layout());
    const breaches = await Promise.all(
      pods.map(async (pod) => {
        const disk = figures.diskOf(pod);
        const storage = storageOf(pod, disk, figures.layersOf(pod), await figures.inMemory(pod));
        return { pod, at: disk?.at ?? clock.now(), breach: breachOf(pod, storage, layersCount) };
      }),
    );
    if (podStore.orders.block(clock.monotonic())) return;
    for (const { pod, at, breach } of breaches) {
      if (breach === undefined || !podStore.isCurrent(pod)) continue;
      const message = { message: breach.message, annotations: {} };
      outbox.order(pod, breach.limit, HARD_GRACE_SECONDS, message, Math.max(0, clock.now() - at));
    }
  }

  private limited(): EvictionPod[] {
    const { podStore } = this.deps;
    return podStore.candidates().filter((pod) => hasLocalLimit(pod) && !podStore.orders.has(pod.uid));
  }
}
