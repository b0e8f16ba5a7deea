// Containers that write more and more: which pod is evicted, and when.

import type { PodShape } from "../plan/pod-shapes.js";
import { PLAIN_NODE, withShortDisks } from "../world/node-shape.js";
import { priorityOf } from "../world/priorities.js";
import { evictedPods } from "./evicted-pods.js";
import { podOf } from "./pods.js";
import { SECOND, type Race } from "./race.js";

const HERE = "docs/simulation.md";
const node = { ...withShortDisks(PLAIN_NODE, "single"), writersGrow: true, hasStorageLimits: true } as const;
const GROWS_MS = 240 * SECOND;

interface Wanted {
  /** MiB at once, and in each second after that. */
  layer?: number;
  speed?: number;
  priorityClassName?: string;
  /** The container's request; absent: none. */
  request?: string;
  /** The container's limit; absent: none. */
  limit?: string;
}

function growing(name: string, { layer = 1, speed = 0, priorityClassName, ...amounts }: Wanted): PodShape {
  const spec = priorityClassName === undefined ? {} : { priorityClassName, priority: priorityOf(priorityClassName) };
  const { request = amounts.limit, limit } = amounts;
  const requests = { "ephemeral-storage": request };
  const resources = limit === undefined ? { requests } : { requests, limits: { "ephemeral-storage": limit } };
  const container = request === undefined ? {} : { resources };
  const growth = { layerMiB: { main: speed }, volumeMiB: {}, forMs: GROWS_MS };
  return { ...podOf({ name, spec, container }), disk: { layerMiB: { main: layer }, volumeMiB: {}, growth } };
}

export const podsFillTheDisk: Race = {
  name: "pods-fill-the-disk",
  promise: "Of pods that fill the disk, the one that has most of it is evicted, and the next one when it is full again",
  issue: HERE,
  node,
  events: [
    [20 * SECOND, { do: "create", shape: growing("fast", { speed: 50 }) }],
    [20 * SECOND, { do: "create", shape: growing("slow", { speed: 20 }) }],
    [150 * SECOND, { do: "create", shape: growing("later", { speed: 50 }) }],
  ],
  watch(world, broken) {
    const evicted = evictedPods(world);
    return () => {
      const names = evicted.map(({ name }) => name).join();
      if (names !== "fast,later") broken(`evicted were [${names}], not fast and then later`);
    };
  },
};

export const priorityBeforeUse: Race = {
  name: "priority-before-use",
  promise: "The pod with the lowest priority is evicted for a disk, though another one has more of it",
  issue: HERE,
  node,
  events: [
    [20 * SECOND, { do: "create", shape: growing("high", { layer: 1500, priorityClassName: "highest" }) }],
    [20 * SECOND, { do: "create", shape: growing("low", { layer: 800 }) }],
    [20 * SECOND, { do: "create", shape: growing("middle", { layer: 1000, priorityClassName: "medium" }) }],
    // The unused images have 100 MiB less.
    [120 * SECOND, { do: "disk-short", signal: "imagefs.available", below: "hard", missing: 2800, ms: 40 * SECOND }],
  ],
  watch(world, broken) {
    const evicted = evictedPods(world);
    return () => {
      const [first] = evicted;
      if (first?.name !== "low") broken(`evicted were [${evicted.map(({ name }) => name).join()}], not low first`);
    };
  },
};

export const excessBeforeUse: Race = {
  name: "excess-before-use",
  promise: "The pod that exceeds its request by most is evicted for a disk, though another one has more of it",
  issue: HERE,
  node,
  events: [
    [20 * SECOND, { do: "create", shape: growing("large", { layer: 1500, request: "1400Mi" }) }],
    [20 * SECOND, { do: "create", shape: growing("small", { layer: 800 }) }],
    [120 * SECOND, { do: "disk-short", signal: "imagefs.available", below: "hard", missing: 2800, ms: 40 * SECOND }],
  ],
  watch(world, broken) {
    const evicted = evictedPods(world);
    return () => {
      const [first] = evicted;
      if (first?.name !== "small") broken(`evicted were [${evicted.map(({ name }) => name).join()}], not small first`);
    };
  },
};

export const growsAboveItsLimit: Race = {
  name: "grows-above-its-limit",
  promise: "A pod that exceeds its limit of ephemeral storage minutes after its start is evicted soon after that",
  issue: HERE,
  node,
  events: [[20 * SECOND, { do: "create", shape: growing("growing", { layer: 50, speed: 5, limit: "600Mi" }) }]],
  watch(world, broken) {
    const evicted = evictedPods(world);
    return () => {
      // 550 MiB at 5 MiB a second, two intervals of ten seconds, and a measurement.
      const [from, to] = [130 * SECOND, 155 * SECOND];
      const [atMs = 0] = evicted.map((pod) => pod.atMs);
      if (atMs < from || atMs > to) broken(`the pod is evicted after ${atMs} ms, not within ${from} to ${to}`);
    };
  },
};
