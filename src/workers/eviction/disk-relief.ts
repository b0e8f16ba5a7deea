// Relieves a short disk: removes unused containers and images, measures again, and only then evicts a pod. It takes
// seconds and runs in parallel with the samples. If memory becomes short meanwhile, an eviction for memory comes first.

import type { Clock } from "../../shared/base/clock/clock.js";
import type { EvictionPod, EvictionUpcalls } from "../../shared/contracts/eviction.js";
import { EVICTION_MEASURE, EVICTION_RECLAIM } from "../../shared/contracts/thread-ops.js";
import type { EvictionThreshold } from "../../shared/kubernetes/api/eviction-threshold.js";
import { value } from "../../shared/kubernetes/api/quantity.js";
import type { LastingErrors } from "../../shared/telemetry/log/lasting-errors.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import type { Disks } from "./disks.js";
import { measuredOf, reclaimsOf, type DiskLayout, type Reclaim } from "./layout.js";
import { nodePressure, type Consumption } from "./messages.js";
import type { Observations } from "./observe.js";
import { graceOf, type Outbox } from "./outbox.js";
import type { PodFigures } from "./pod-figures.js";
import { partsOf } from "./pod-storage.js";
import type { PodStore } from "./pod-store.js";
import { rankByUsage, type Usage } from "./rank.js";
import { isDisk, SIGNAL_FACTS } from "./signals.js";
import { metOf } from "./thresholds.js";

/** Time limit of each way of reclaiming before a pod is evicted instead; main continues the reclaim. */
const RECLAIM_WAIT_MS: Readonly<Record<Reclaim, number>> = { containers: 10_000, images: 20_000 };
const DISK_WAIT_MS = 1000;
/** Usage figures must be fresh: a pod that fills the disk now was small a moment ago. */
const FIGURES_MS = 1000;
/** A pod with unknown usage would be evicted first: its figures are awaited a little longer. */
const FIRST_FIGURES_MS = 4000;

export interface DiskReliefDeps {
  evictionMaxPodGracePeriod: number;
  disks: Disks;
  figures: PodFigures;
  podStore: PodStore;
  outbox: Outbox;
  /** Main, with a deadline in ms. */
  main: (deadlineMs: number) => Pick<EvictionUpcalls, "removeDeadContainers" | "removeUnusedImages">;
  /** The present disk signals. */
  observe: () => Observations;
  board: { setOp(code: number): void };
  clock: Pick<Clock, "monotonic">;
  log: Pick<Logger, "info">;
  errorLog: LastingErrors;
}

export class DiskRelief {
  constructor(private readonly deps: DiskReliefDeps) {}

  /**
   * @param due thresholds that require action now, `threshold` among them.
   * @param thresholds all thresholds.
   * @param observations those by which `due` are due: the message names them, as upstream's, though the node has
   *   reclaimed since.
   * Resolves to "no-candidate" if a pod must be evicted and none can be. Never rejects.
   */
  async relieve(
    threshold: EvictionThreshold,
    due: readonly EvictionThreshold[],
    thresholds: readonly EvictionThreshold[],
    observations: Observations,
  ): Promise<"done" | "no-candidate"> {
    const { disks, figures, podStore, board, log } = this.deps;
    const { layout } = disks;
    board.setOp(EVICTION_RECLAIM);
    if (await this.reclaim(reclaimsOf(layout, threshold.signal))) {
      await disks.refresh(DISK_WAIT_MS);
      if (metOf(thresholds, this.deps.observe(), true).every(({ signal }) => !isDisk(signal))) {
        log.info(
          { signal: threshold.signal },
          "removing dead containers and unused images freed enough disk; evicting no pod",
        );
        return "done";
      }
    }
    board.setOp(EVICTION_MEASURE);
    const uids = podStore.candidates().map(({ uid }) => uid);
    await figures.measure(uids, FIGURES_MS, FIGURES_MS, needsLayers(layout, threshold));
    const unknown = podStore.candidates().filter((pod) => figures.diskOf(pod) === undefined);
    if (unknown.length > 0) {
      await figures.measure(
        unknown.map(({ uid }) => uid),
        FIRST_FIGURES_MS,
        FIRST_FIGURES_MS,
        false,
      );
    }
    // An eviction for memory came first, or a pod was just evicted for its own limit.
    if (podStore.orders.block(this.deps.clock.monotonic())) return "done";
    const pod = podStore.first(this.rank(threshold, layout));
    if (pod === undefined) return "no-candidate";
    this.order(pod, threshold, due, observations);
    return "done";
  }

  /** True if the node had anything to reclaim. */
  private async reclaim(ways: readonly Reclaim[]): Promise<boolean> {
    const { main, errorLog, log } = this.deps;
    for (const way of ways) {
      const called = main(RECLAIM_WAIT_MS[way]);
      const key = `reclaim ${way}`;
      try {
        if (way === "containers") await called.removeDeadContainers();
        else {
          const freed = await called.removeUnusedImages();
          if (freed.images > 0) log.info(freed, "removed unused images because of disk pressure");
        }
        errorLog.resolved(key, `removing unneeded ${way} succeeded again`);
      } catch (error) {
        errorLog.report(key, `cannot remove unneeded ${way} under disk pressure`, error);
      }
    }
    return ways.length > 0;
  }

  private rank({ signal }: EvictionThreshold, layout: DiskLayout): EvictionPod[] {
    const { podStore, figures } = this.deps;
    const deps = measuredOf(layout, signal);
    const inodes = SIGNAL_FACTS[signal].resource === "inodes";
    const usages = podStore.candidates().map((pod): Usage => {
      const disk = figures.diskOf(pod);
      const layers = figures.layersOf(pod);
      const taken = partsOf(pod, disk, layers, deps);
      const known = disk !== undefined || layers !== undefined;
      return {
        pod,
        used: known ? (inodes ? taken.inodes : taken.bytes) : undefined,
        // Pods cannot request inodes.
        requested: inodes ? 0 : Number(value(pod.requests.ephemeralStorage ?? 0)),
      };
    });
    return rankByUsage(usages);
  }

  private order(
    pod: EvictionPod,
    threshold: EvictionThreshold,
    due: readonly EvictionThreshold[],
    observations: Observations,
  ): void {
    const { outbox, evictionMaxPodGracePeriod, clock } = this.deps;
    const message = nodePressure(threshold.signal, due, observations, pod, this.consumption(pod, threshold));
    const at = this.deps.observe().get(threshold.signal)?.at ?? clock.monotonic();
    const grace = graceOf(threshold, pod, evictionMaxPodGracePeriod);
    outbox.order(pod, threshold.signal, grace, message, clock.monotonic() - at);
  }

  /** Writable layer and logs of each container, in bytes; inodes are not counted. */
  private consumption(pod: EvictionPod, { signal }: EvictionThreshold): Consumption {
    const { figures } = this.deps;
    const containers = new Map<string, number>();
    if (SIGNAL_FACTS[signal].resource !== "ephemeral-storage") return { containers };
    const disk = figures.diskOf(pod);
    const layers = figures.layersOf(pod);
    for (const { name } of pod.containers) {
      const layer = layers?.get(name);
      const logs = disk?.logs.filter(({ container }) => container === name);
      if (layer === undefined || logs === undefined) continue;
      containers.set(
        name,
        logs.reduce((sum, { bytes }) => sum + bytes, layer.bytes),
      );
    }
    return { containers };
  }
}

/** For the usage that decides, or for the containers' usage in the message, whatever disk they are on. */
function needsLayers(layout: DiskLayout, { signal }: EvictionThreshold): boolean {
  return measuredOf(layout, signal).layers || SIGNAL_FACTS[signal].resource === "ephemeral-storage";
}
