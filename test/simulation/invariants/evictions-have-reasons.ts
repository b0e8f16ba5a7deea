// A pod is evicted only while the node is short of memory, a disk or process ids, the one that exceeds its requests by
// most, and one at a time. The pressure is over when the shortage is.

import { ContainerEventType, ContainerState } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { kernel } from "../kernel/kernel.js";
import { NODE_NAME } from "../world/api.js";
import { TRANSITION_MS } from "../world/node-shape.js";
import { podNameOf } from "../world/pod-facts.js";
import { PRESSURES, type Signal, type Signals } from "../world/signals.js";
import type { World } from "../world/world.js";
import { isQuiet, onEviction, type EvictionOrder } from "./eviction-orders.js";
import { isBefore, standingOf, type Standing } from "./eviction-rank.js";
import type { Broken, Invariant } from "./invariant.js";

/** A thread, or the whole process, may stand still between the sample and the order. */
const LATE_MS = 60_000;
/** Where nothing else happens: main has measured all pods, and the order is on its way. */
const FRESH_MS = 15_000;
/** Another pod is evicted after this time, though the one before still runs. */
const WAIT_MS = 30_000;
/** Evictions end a shortage within this time where nothing else happens. */
const RELIEF_MS = 60_000;
/** A container that did not change for so long is known to the kubelet: always, and where nothing else happens. */
const STEADY_MS = 60_000;
const QUICKLY_KNOWN_MS = 20_000;
/** Where pods themselves fill the disks, each shortage is looked at so often. */
const LOOK_MS = 30_000;
const REFUSED_ORDER = /^pod ([^_]+)_\S+ is critical; cannot evict it$/;
const REJECTION = /^event Evicted of pod ([^_]+)_\S+: The node had condition: \[(.*)\]/;

export const evictionsHaveReasons: Invariant = {
  name: "pods are evicted for a shortage only, one at a time",
  promisedBy: "docs/adr/0030-eviction.md",
  watch(world, broken) {
    const { signals } = world;
    if (signals === undefined) return undefined;
    const pressures = new Set(signals.names.map((signal) => PRESSURES[signal]));
    const evictions = new Evictions(world, signals, broken);
    signals.onShortageEnd.add((signal, beganAt) => evictions.shortageEnds(signal, beganAt));
    if (world.node.writersGrow === true) evictions.lookAgain();
    onEviction(world, (order) => evictions.ordered(order));
    world.onLog.add(({ msg }) => {
      const refused = REFUSED_ORDER.exec(msg)?.[1];
      if (refused !== undefined) broken("the eviction thread orders a critical pod away", refused);
      const [, rejected, named = ""] = REJECTION.exec(msg) ?? [];
      if (rejected === undefined) return;
      const isOver = (pressure: string): boolean =>
        !pressures.has(pressure) || kernel.monotonic - signals.pressedAt(pressure) > TRANSITION_MS + LATE_MS;
      if (named.split(", ").some(isOver)) broken(`the pod is rejected for [${named}] without a shortage`, rejected);
    });
    return () => {
      const node = world.api.store.get("nodes", "", NODE_NAME)?.status as
        | { conditions?: { type: string; status: string }[] }
        | undefined;
      for (const pressure of pressures) {
        const status = node?.conditions?.find(({ type }) => type === pressure)?.status;
        if (status !== "False") broken(`the condition ${pressure} is ${status ?? "absent"} long after a shortage`);
      }
    };
  },
};

class Evictions {
  private last: { name: string; at: number } | undefined;
  /** When a container of the pod started or ended last, by the pod's name. */
  private readonly changedAt = new Map<string, number>();

  constructor(
    private readonly world: World,
    private readonly signals: Signals,
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

  shortageEnds(signal: Signal, beganAt: number): void {
    const { facts } = this.world;
    const { signals } = this;
    const hasOtherFault = facts.lastFaultAt > beganAt || facts.lastOtherFaultAt > beganAt;
    if (hasOtherFault || (facts.startedAt ?? Infinity) > beganAt) return;
    const [left] = this.candidates();
    if (left === undefined) return;
    const now = kernel.monotonic;
    if (signal === "memory.available" && now - beganAt >= RELIEF_MS) {
      const isShort = signals.available(signal) < signals.valueOf(signal, "hard");
      if (isShort) this.broken(`memory is short for ${RELIEF_MS} ms, and the pod is not evicted`, left);
    }
    for (const { kind, dueSince = now } of signals.of(signal)) {
      const idleMs = now - Math.max(dueSince, this.last?.at ?? 0);
      if (idleMs < RELIEF_MS) continue;
      this.broken(`${signal} is below its ${kind} threshold for ${idleMs} ms, and the pod is not evicted`, left);
    }
  }

  /** Shortages that no event of the plan ends. */
  lookAgain(): void {
    kernel.after(kernel.world, LOOK_MS, () => {
      const since = kernel.monotonic - RELIEF_MS - LOOK_MS;
      for (const signal of this.signals.names)
        if (PRESSURES[signal] === "DiskPressure") this.shortageEnds(signal, since);
      this.lookAgain();
    });
  }

  ordered({ name, signal }: EvictionOrder): void {
    const { world, broken } = this;
    const now = kernel.monotonic;
    const pod = world.facts.pods.get(name);
    if (pod !== undefined) {
      if (signal !== undefined) this.checkRank(signal, name);
      pod.disturbedAt = now;
    }
    if (signal !== undefined) this.checkReason(signal, name);
    if (pod?.shape.isStatic === true) broken("a static pod is evicted", name);
    const { last } = this;
    this.last = { name, at: now };
    // Pods above their own limits are evicted together.
    if (signal === undefined) return;
    if (last === undefined || last.name === name || now - last.at >= WAIT_MS || !this.runs(last.name)) return;
    // A new kubelet does not know of orders of the one before.
    if ((world.facts.startedAt ?? Infinity) >= last.at) return;
    broken(`the pod is evicted while ${last.name}, evicted ${now - last.at} ms before, still runs`, name);
  }

  private checkReason(signal: Signal, name: string): void {
    const { signals, world, broken } = this;
    const met = Math.max(-Infinity, ...signals.of(signal).map(({ metAt }) => metAt));
    const ageMs = kernel.monotonic - met;
    if (ageMs > (isQuiet(world) ? FRESH_MS : LATE_MS))
      broken(`the pod is evicted for ${signal}, which no threshold was met by for ${ageMs} ms`, name);
  }

  /** No pod whose containers did not change comes first. */
  private checkRank(signal: Signal, name: string): void {
    const { world } = this;
    const [windowMs, steadyMs] = isQuiet(world) ? [FRESH_MS, QUICKLY_KNOWN_MS] : [LATE_MS, STEADY_MS];
    const own = this.isSteady(name, steadyMs) ? standingOf(world, signal, name, windowMs) : undefined;
    if (own === undefined) return;
    for (const other of this.candidates()) {
      const standing = this.isSteady(other, steadyMs) ? standingOf(world, signal, other, windowMs) : undefined;
      if (standing === undefined || !isBefore(standing, own)) continue;
      this.broken(
        `the pod is evicted for ${signal}, ${wordsOf(own)}, and ${other}, ${wordsOf(standing)}, is not`,
        name,
      );
    }
  }

  private isSteady(name: string, steadyMs: number): boolean {
    return kernel.monotonic - (this.changedAt.get(name) ?? Infinity) > steadyMs;
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

function wordsOf({ least, most, priority }: Standing): string {
  return `${least === most ? most : `${least} to ${most}`} above its requests with priority ${priority}`;
}
