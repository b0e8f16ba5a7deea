// A pod is evicted only while the node is short of memory, the one that exceeds its requests by most, and one at a
// time. The pressure is over when the shortage is.

import { podRequests, sumOf } from "../../../src/shared/kubernetes/api/pod-requests.js";
import type { PodSpec } from "../../../src/shared/kubernetes/api/pod.js";
import { value } from "../../../src/shared/kubernetes/api/quantity.js";
import { ContainerEventType, ContainerState } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { kernel } from "../kernel/kernel.js";
import { NODE_NAME } from "../world/api.js";
import type { MemoryUse } from "../world/memory-use.js";
import { plainName, podNameOf, type PodFacts } from "../world/pod-facts.js";
import type { World } from "../world/world.js";
import type { Broken, Invariant } from "./invariant.js";

/** A thread, or the whole process, may stand still between the sample and the order. */
const LATE_MS = 60_000;
/** Another pod is evicted after this time, though the one before still runs. */
const WAIT_MS = 30_000;
/** Evictions end a shortage within this time where nothing else happens. */
const RELIEF_MS = 60_000;
/** Use that did not change for so long is known to the kubelet. */
const STEADY_MS = 60_000;
const MIB = 1024 * 1024;
const ORDER = /^evicting pod ([^_]+)_/;
const REFUSED_ORDER = /^pod ([^_]+)_\S+ is critical; cannot evict it$/;
const REJECTION = /^event Evicted of pod ([^_]+)_\S+: The node had condition: \[(.*)\]/;
/** evictionPressureTransitionPeriod. */
const TRANSITION_MS = 30_000;

export const evictionsHaveReasons: Invariant = {
  name: "pods are evicted for a shortage only, one at a time",
  promisedBy: "docs/adr/0030-eviction.md",
  watch(world, broken) {
    const { memory } = world;
    if (memory === undefined) return undefined;
    const evictions = new Evictions(world, memory, broken);
    memory.onEnd.add((beganAt) => evictions.shortageEnds(beganAt));
    world.onLog.add(({ msg }) => {
      const name = evictedPod(msg);
      if (name !== undefined) evictions.ordered(name);
      const refused = REFUSED_ORDER.exec(msg)?.[1];
      if (refused !== undefined) broken("the eviction thread orders a critical pod away", refused);
      const [, rejected, pressures] = REJECTION.exec(msg) ?? [];
      const isOver = kernel.monotonic - memory.lastReadShortAt > TRANSITION_MS + LATE_MS;
      if (rejected !== undefined && (pressures !== "MemoryPressure" || isOver))
        broken(`the pod is rejected for [${pressures ?? ""}] without a shortage`, rejected);
    });
    return () => {
      const node = world.api.store.get("nodes", "", NODE_NAME)?.status as
        | { conditions?: { type: string; status: string }[] }
        | undefined;
      const pressure = node?.conditions?.find(({ type }) => type === "MemoryPressure")?.status;
      if (pressure !== "False") broken(`the condition MemoryPressure is ${pressure ?? "absent"} long after a shortage`);
    };
  },
};

/** The pod whose eviction a line of the kubelet's log reports. */
export function evictedPod(message: string): string | undefined {
  const name = ORDER.exec(message)?.[1];
  return name === undefined ? undefined : plainName(name);
}

class Evictions {
  private last: { name: string; at: number } | undefined;
  /** When a container of the pod started or ended last, by the pod's name. */
  private readonly changedAt = new Map<string, number>();

  constructor(
    private readonly world: World,
    private readonly memory: MemoryUse,
    private readonly broken: Broken,
  ) {
    const { CONTAINER_STARTED_EVENT, CONTAINER_STOPPED_EVENT } = ContainerEventType;
    const changes = [CONTAINER_STARTED_EVENT, CONTAINER_STOPPED_EVENT];
    world.runtime.state.eventListeners.add(({ containerId, containerEventType }) => {
      if (!changes.includes(containerEventType)) return;
      const { labels = {} } = world.runtime.state.containers.get(containerId)?.config ?? {};
      this.changedAt.set(podNameOf(labels), kernel.monotonic);
    });
  }

  shortageEnds(beganAt: number): void {
    const { facts } = this.world;
    const hasOtherFault = facts.lastFaultAt > beganAt || facts.lastOtherFaultAt > beganAt;
    if (hasOtherFault || kernel.monotonic - beganAt < RELIEF_MS) return;
    if ((facts.startedAt ?? Infinity) > beganAt || !this.memory.isShort) return;
    const [left] = this.candidates();
    if (left !== undefined) this.broken(`memory is short for ${RELIEF_MS} ms, and the pod is not evicted`, left);
  }

  ordered(name: string): void {
    const { memory, world, broken } = this;
    const now = kernel.monotonic;
    const pod = world.facts.pods.get(name);
    if (pod !== undefined) {
      this.checkRank(name, pod);
      pod.disturbedAt = now;
    }
    if (now - memory.lastReadShortAt > LATE_MS) broken("the pod is evicted without a shortage of memory", name);
    if (pod?.shape.isStatic === true) broken("a static pod is evicted", name);
    const { last } = this;
    this.last = { name, at: now };
    if (last === undefined || last.name === name || now - last.at >= WAIT_MS || !this.runs(last.name)) return;
    // A new kubelet does not know of orders of the one before.
    if ((world.facts.startedAt ?? Infinity) >= last.at) return;
    broken(`the pod is evicted while ${last.name}, evicted ${now - last.at} ms before, still runs`, name);
  }

  /** No pod whose use was steady exceeds its requests by more. */
  private checkRank(name: string, pod: PodFacts): void {
    if (!this.isSteady(name)) return;
    const own = this.excess(name, pod);
    for (const other of this.candidates()) {
      const facts = this.world.facts.pods.get(other);
      const more = facts === undefined || !this.isSteady(other) ? 0 : this.excess(other, facts);
      if (more > Math.max(0, own)) {
        this.broken(`the pod is evicted, ${own} MiB above its requests, and ${other}, ${more} MiB above, is not`, name);
      }
    }
  }

  private isSteady(name: string): boolean {
    return kernel.monotonic - (this.changedAt.get(name) ?? Infinity) > STEADY_MS;
  }

  private excess(name: string, { shape }: PodFacts): number {
    const requested = value(sumOf(podRequests({ spec: shape.spec as unknown as PodSpec }), "memory"));
    return this.memory.ofPod(name) - Number(requested) / MIB;
  }

  /** Pods of the API that run, and that nothing ends. */
  private candidates(): string[] {
    return [...this.world.facts.pods].flatMap(([name, { shape, deletedAt, disturbedAt }]) => {
      const ends = shape.isStatic || shape.hasDeadline || deletedAt !== undefined || disturbedAt !== undefined;
      return !ends && this.runs(name) ? [name] : [];
    });
  }

  private runs(name: string): boolean {
    return [...this.world.runtime.state.containers.values()].some(
      ({ config, status }) => podNameOf(config.labels) === name && status.state === ContainerState.CONTAINER_RUNNING,
    );
  }
}
