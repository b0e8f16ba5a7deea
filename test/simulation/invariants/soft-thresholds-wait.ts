// A soft threshold evicts only once it was met for its grace period, and the pod then gets its own grace period, but
// at most evictionMaxPodGracePeriod.

import { ContainerEventType } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { kernel } from "../kernel/kernel.js";
import { podNameOf } from "../world/pod-facts.js";
import type { Signals, Threshold } from "../world/signals.js";
import type { World } from "../world/world.js";
import { onEviction, type EvictionOrder } from "./eviction-orders.js";
import type { Broken, Invariant } from "./invariant.js";

/** Between the last reading and the order a thread, or the whole process, may stand still. */
const LATE_MS = 60_000;
/** Grace period of an eviction for a hard threshold. */
const HARD_SECONDS = 1;
/** A container has so much after its preStop hook with every grace period. */
const LEAST_SECONDS = 2;
/** Whole seconds are rounded, and a call takes a moment. */
const SHORTER_MS = 1500;
const KILLED = 137;

export const softThresholdsWait: Invariant = {
  name: "soft thresholds wait for their grace period",
  promisedBy: "docs/adr/0030-eviction.md",
  watch(world, broken) {
    const { signals } = world;
    if (signals === undefined) return undefined;
    const evicted = new Map<string, { at: number; graceSeconds: number }>();
    onEviction(world, (order) => {
      checkOrder(world, signals, order, broken);
      evicted.set(order.name, { at: kernel.monotonic, graceSeconds: order.graceSeconds });
    });
    world.runtime.watchers.add((verb, request) => {
      if (verb !== "StopContainer") return;
      const { containerId, timeout } = request as { containerId: string; timeout: bigint };
      const name = podNameOf(world.runtime.state.containers.get(containerId)?.config.labels ?? {});
      const { at = 0, graceSeconds = Infinity } = evicted.get(name) ?? {};
      // A pod that runs again after a boot is not evicted any more.
      if (world.facts.lastRebootAt > at) return;
      const most = Math.max(LEAST_SECONDS, graceSeconds);
      if (timeout > most) broken(`StopContainer with ${timeout} s of a pod that was evicted with ${most} s`, name);
    });
    world.runtime.state.eventListeners.add(({ containerId, containerEventType }) => {
      if (containerEventType !== ContainerEventType.CONTAINER_STOPPED_EVENT) return;
      const container = world.runtime.state.containers.get(containerId);
      if (container?.status.exitCode !== KILLED) return;
      const name = podNameOf(container.config.labels);
      const eviction = evicted.get(name);
      const pod = world.facts.pods.get(name);
      if (eviction === undefined || pod?.shape.isSteady !== true) return;
      // Something else may have begun to stop it before.
      if (pod.deletedAt !== undefined || pod.editedAt !== undefined || (pod.disturbedAt ?? 0) > eviction.at) return;
      if (world.facts.lastRebootAt > eviction.at) return;
      const passed = kernel.monotonic - eviction.at;
      if (passed < eviction.graceSeconds * 1000 - SHORTER_MS)
        broken(`a container of the evicted pod was killed after ${passed} of ${eviction.graceSeconds} s`, name);
    });
    return undefined;
  },
};

function checkOrder({ facts, node }: World, signals: Signals, order: EvictionOrder, broken: Broken): void {
  const { name, signal, graceSeconds } = order;
  const pod = facts.pods.get(name);
  if (signal === undefined || pod === undefined) return;
  const [hard, soft] = (["hard", "soft"] as const).map((kind) => signals.of(signal).find((one) => one.kind === kind));
  const isDue = (threshold: Threshold | undefined): boolean =>
    kernel.monotonic - (threshold?.dueAt ?? -Infinity) < LATE_MS;
  if (!isDue(hard) && !isDue(soft) && soft?.since !== undefined) {
    const heldMs = Math.round(kernel.monotonic - soft.since);
    broken(`the pod is evicted ${heldMs} ms after the soft threshold of ${signal} was met, not ${soft.graceMs}`, name);
  }
  const ofSoft = Math.min(Number(node.fields["evictionMaxPodGracePeriod"] ?? 0), pod.shape.graceSeconds);
  const allowed = [...(isDue(hard) ? [HARD_SECONDS] : []), ...(isDue(soft) ? [ofSoft] : [])];
  if (allowed.length > 0 && !allowed.includes(graceSeconds))
    broken(`the pod is evicted for ${signal} with ${graceSeconds} s of grace, not ${allowed.join(" or ")} s`, name);
}
