// What is done when memory or process ids are short: nothing but a pod can give them. Its order goes out with the look that found it.
import type { EvictionThreshold } from "../../shared/api/eviction-threshold.js";
import { value } from "../../shared/api/quantity.js";
import type { Clock } from "../../shared/clock/clock.js";
import type { EvictionPod } from "../../shared/contracts/eviction.js";
import { nodePressure, type Consumption } from "./messages.js";
import type { Observations } from "./observe.js";
import { graceOf, type Outbox } from "./outbox.js";
import type { PodStore } from "./pod-store.js";
import type { PodFigures } from "./pod-figures.js";
import { rankByProcesses, rankByUsage } from "./rank.js";
import { isMemory } from "./signals.js";

export interface PodReliefParts {
  evictionMaxPodGracePeriod: number;
  figures: PodFigures;
  podStore: PodStore;
  outbox: Outbox;
  clock: Pick<Clock, "monotonic">;
}

export class PodRelief {
  constructor(private readonly parts: PodReliefParts) {}

  /** @param due What asks for something now, `threshold` among it. */
  async relieve(
    threshold: EvictionThreshold,
    due: readonly EvictionThreshold[],
    observations: Observations,
  ): Promise<"done" | "no-candidate"> {
    const { podStore, outbox, clock, evictionMaxPodGracePeriod } = this.parts;
    const { signal } = threshold;
    const pod = podStore.first(isMemory(signal) ? this.byMemory() : this.byProcesses());
    if (pod === undefined) return "no-candidate";
    const consumption = isMemory(signal) ? await this.memoryOf(pod) : { containers: new Map<string, number>() };
    // It ended or changed meanwhile, or another had to go for its own limit: the next look judges anew.
    if (!podStore.isCurrent(pod) || podStore.orders.block(clock.monotonic())) return "done";
    const message = nodePressure(signal, due, observations, pod, consumption);
    const at = observations.get(signal)?.at ?? clock.monotonic();
    outbox.order(pod, signal, graceOf(threshold, pod, evictionMaxPodGracePeriod), message, clock.monotonic() - at);
    return "done";
  }

  private async memoryOf(pod: EvictionPod): Promise<Consumption> {
    const { figures } = this.parts;
    return { pod: figures.memoryOf(pod), containers: await figures.containersMemory(pod) };
  }

  private byMemory(): EvictionPod[] {
    const { podStore, figures } = this.parts;
    return rankByUsage(
      podStore.candidates().map((pod) => ({
        pod,
        used: figures.memoryOf(pod),
        requested: Number(value(pod.requests.memory ?? 0)),
      })),
    );
  }

  private byProcesses(): EvictionPod[] {
    const { podStore, figures } = this.parts;
    return rankByProcesses(podStore.candidates().map((pod) => ({ pod, used: figures.processesOf(pod) })));
  }
}
