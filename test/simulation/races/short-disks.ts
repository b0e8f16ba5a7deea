// Shortages of a disk: the kubelet removes images before it evicts a pod, and evicts the right one.

import type { PodShape } from "../plan/pod-shapes.js";
import { PLAIN_NODE, withShortDisks } from "../world/node-shape.js";
import { evictedPods } from "./evicted-pods.js";
import { podOf } from "./pods.js";
import { SECOND, type Race } from "./race.js";

const HERE = "docs/simulation.md";
const SECOND_SHORTAGE = 230 * SECOND;

interface Wanted {
  layer: number;
  /** Inodes in the layer; absent: the usual ones. */
  inodes?: number;
  inMemory?: number;
  isStatic?: boolean;
}

/** A pod that writes so many MiB to its container's layer, and to a volume in memory. */
export function writing(name: string, { layer, inMemory = 0, isStatic = false, inodes = 2000 }: Wanted): PodShape {
  const volumes = [{ name: "scratch", emptyDir: { medium: "Memory" } }];
  const container = { volumeMounts: [{ name: "scratch", mountPath: "/scratch" }] };
  const wanted = inMemory > 0 ? { name, spec: { volumes }, container } : { name };
  const pod = podOf(isStatic ? { ...wanted, static: {} } : wanted);
  const disk = { layerMiB: { main: layer }, volumeMiB: { main: inMemory } };
  return { ...pod, disk: { ...disk, inodes: { main: inodes } } };
}

export const imagesBeforePods: Race = {
  name: "images-before-pods",
  promise: "A short disk costs unused images first, and then the pod that has most of the disk, memory not counted",
  issue: HERE,
  node: withShortDisks(PLAIN_NODE, "single"),
  events: [
    [20 * SECOND, { do: "create", shape: writing("in-memory", { layer: 1, inMemory: 2000 }) }],
    [20 * SECOND, { do: "create", shape: writing("large", { layer: 1500 }) }],
    [20 * SECOND, { do: "create", shape: writing("static", { layer: 2500, isStatic: true }) }],
    // The unused images are larger.
    [120 * SECOND, { do: "disk-short", signal: "imagefs.available", below: "hard", missing: 1000, ms: 70 * SECOND }],
    [SECOND_SHORTAGE, { do: "disk-short", signal: "imagefs.available", below: "hard", missing: 100, ms: 70 * SECOND }],
  ],
  watch(world, broken) {
    const evicted = evictedPods(world);
    return () => {
      const early = evicted.find(({ atMs }) => atMs < SECOND_SHORTAGE);
      if (early !== undefined) broken("the pod is evicted, and images were enough", early.name);
      const names = evicted.map(({ name }) => name).join();
      if (names !== "large") broken(`evicted were [${names}], not large`);
    };
  },
};

export const imagesFromBefore: Race = {
  name: "images-from-before",
  promise: "Images from before the kubelet are old enough for removal, though the machine has just started",
  issue: HERE,
  node: withShortDisks(PLAIN_NODE, "single", "2m0s"),
  events: [
    [20 * SECOND, { do: "create", shape: writing("large", { layer: 1500 }) }],
    [70 * SECOND, { do: "disk-short", signal: "imagefs.available", below: "hard", missing: 1000, ms: 40 * SECOND }],
  ],
  watch(world, broken) {
    const evicted = evictedPods(world);
    return () => {
      if (evicted.length > 0) broken("the pod is evicted, and images were enough", evicted[0]?.name);
      if ([...world.runtime.state.images.values()].some(({ repoTags }) => repoTags[0]?.includes("/pulled-") === true))
        broken("the race did not come about");
    };
  },
};

export const minimumReclaim: Race = {
  name: "minimum-reclaim",
  promise: "Pods are evicted for a disk until the minimum reclaim is free, and no longer",
  issue: HERE,
  node: withShortDisks(PLAIN_NODE, "single"),
  events: [
    [20 * SECOND, { do: "create", shape: writing("small", { layer: 300 }) }],
    [20 * SECOND, { do: "create", shape: writing("large", { layer: 600 }) }],
    [20 * SECOND, { do: "create", shape: writing("middle", { layer: 550 }) }],
    // The unused images have 100 MiB less. The first pod's layer ends the shortage, both together free 1,000 MiB.
    [120 * SECOND, { do: "disk-short", signal: "imagefs.available", below: "hard", missing: 2800, ms: 90 * SECOND }],
  ],
  watch(world, broken) {
    const evicted = evictedPods(world);
    return () => {
      const names = evicted.map(({ name }) => name).join();
      if (names !== "large,middle") broken(`evicted were [${names}], not large and then middle`);
    };
  },
};

export const shortageOfInodes: Race = {
  name: "shortage-of-inodes",
  promise: "The pod with most inodes is evicted when a disk is short of them, though another one has more bytes",
  issue: HERE,
  node: withShortDisks(PLAIN_NODE, "single"),
  events: [
    [20 * SECOND, { do: "create", shape: writing("some", { layer: 100, inodes: 8000 }) }],
    [20 * SECOND, { do: "create", shape: writing("large", { layer: 1500, inodes: 200 }) }],
    [20 * SECOND, { do: "create", shape: writing("many", { layer: 1, inodes: 20_000 }) }],
    // The unused images have more inodes than this.
    [120 * SECOND, { do: "disk-short", signal: "nodefs.inodesFree", below: "hard", missing: 20, ms: 20 * SECOND }],
    [180 * SECOND, { do: "disk-short", signal: "nodefs.inodesFree", below: "hard", missing: 15, ms: 60 * SECOND }],
  ],
  watch(world, broken) {
    const evicted = evictedPods(world);
    return () => {
      const names = evicted.map(({ name }) => name).join();
      if (names !== "many") broken(`evicted were [${names}], not many`);
    };
  },
};

export const endedBeforeTheClock: Race = {
  name: "ended-before-the-clock",
  promise: "Containers of an ended pod are removed from a short disk, though the clock was set back since",
  issue: HERE,
  node: withShortDisks(PLAIN_NODE, "single"),
  events: [
    [20 * SECOND, { do: "create", shape: ended("ended", 8000) }],
    [20 * SECOND, { do: "create", shape: writing("small", { layer: 100 }) }],
    [60 * SECOND, { do: "clock-jump", ms: -3600 * SECOND }],
    // The unused images are not enough.
    [120 * SECOND, { do: "disk-short", signal: "imagefs.available", below: "hard", missing: 5000, ms: 60 * SECOND }],
  ],
  watch(world, broken) {
    const evicted = evictedPods(world);
    return () => {
      if (evicted.length > 0) broken("the pod is evicted, and containers of an ended pod are enough", evicted[0]?.name);
    };
  },
};

/** A pod that has ended soon, and has so many MiB in its layer. */
function ended(name: string, layer: number): PodShape {
  const pod = podOf({ name, script: { runsMs: 5 * SECOND }, spec: { restartPolicy: "Never" } });
  return { ...pod, kind: "job", disk: { layerMiB: { main: layer }, volumeMiB: {} } };
}
