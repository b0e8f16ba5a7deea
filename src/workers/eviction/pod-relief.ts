// Reaction to a shortage of memory or process ids: only an eviction helps. The eviction order is sent in the same pass
// as the sample.

import type { Clock } from "../../shared/base/clock/clock.js";
import type { EvictionPod } from "../../shared/contracts/eviction.js";
import type { EvictionThreshold } from "../../shared/kubernetes/api/eviction-threshold.js";
import { value } from "../../shared/kubernetes/api/quantity.js";
import { nodePressure, type Consumption } from "./messages.js";
import type { Observations } from "./observe.js";
import { graceOf, type Outbox } from "./outbox.js";
import type { PodFigures } from "./pod-figures.js";
import type { PodStore } from "./pod-store.js";
import { rankByProcesses, rankByUsage } from "./rank.js";
import { isMemory } from "./signals.js";

export interface PodReliefDeps {
  evictionMaxPodGracePeriod: number;
  figures: PodFigures;
  podStore: PodStore;
  outbox: Outbox;
  clock: Pick<Clock, "monotonic">;
}

export class PodRelief {
  constructor(private readonly deps: PodReliefDeps) {}

  /** @param due thresholds that require action now, `threshold` among them. */
  async relieve(
    threshold: EvictionThreshold,
    due: readonly EvictionThreshold[],
    observations: Observations,
  ): Promise<"done" | "no-candidate"> {
    const { podStore, outbox, clock, evictionMaxPodGracePeriod } = this.deps;
    const { signal } = threshold;
    const pod = podStore.first(isMemory(signal) ? this.byMemory() : this.byProcesses());
    if (pod === undefined) return "no-candidate";
    const consumption = isMemory(signal) ? await this.memoryOf(pod) : { containers: new Map<string, number>() };
    // The pod terminated or changed meanwhile, or another pod exceeded its own limit: the next sample decides again.
    if (!podStore.isCurrent(pod) || podStore.orders.block(clock.monotonic())) return "done";
    const message = nodePressure(signal, due, observations, pod, consumption);
    const at = observations.get(signal)?.at ?? clock.monotonic();
    outbox.order(pod, signal, graceOf(threshold, pod, evictionMaxPodGracePeriod), message, clock.monotonic() - at);
    return "done";
  }

  private async memoryOf(pod: EvictionPod): Promise<Consumption> {
    const { figures } = this.deps;
    return { pod: figures.memoryOf(pod), containers: await figures.containersMemory(pod) };
  }

  private byMemory(): EvictionPod[] {
    const { podStore, figures } = this.deps;
    return rankByUsage(
      podStore.candidates().map((pod) => ({
        pod,
        used: figures.memoryOf(pod),
        requested: Number(value(pod.requests.memory ?? 0)),
      })),
    );
  }

  private byProcesses(): EvictionPod[] {
    const { podStore, figures } = this.deps;
    return rankByProcesses(podStore.candidates().map((pod) => ({ pod, used: figures.processesOf(pod) })));
  }
}
