// Pods above and within their limits of ephemeral storage.

import type { PodShape } from "../plan/pod-shapes.js";
import { PLAIN_NODE, withShortDisks } from "../world/node-shape.js";
import { evictedPods } from "./evicted-pods.js";
import { podOf } from "./pods.js";
import { SECOND, type Race } from "./race.js";

interface Wanted {
  /** MiB that the container writes to its layer, and to its volume. */
  layer: number;
  volume: number;
  /** The volume has a limit, or a medium. */
  emptyDir: { sizeLimit?: string; medium?: string };
  /** The container's limit; absent: none. */
  limit?: string;
}

function limited(name: string, { layer, volume, emptyDir, limit }: Wanted): PodShape {
  const volumeMounts = [{ name: "scratch", mountPath: "/scratch" }];
  const values = { "ephemeral-storage": limit };
  const container = limit === undefined ? { volumeMounts } : { volumeMounts, resources: { limits: values } };
  const pod = podOf({ name, container, spec: { volumes: [{ name: "scratch", emptyDir }] } });
  return { ...pod, disk: { layerMiB: { main: layer }, volumeMiB: { main: volume } } };
}

const MEMORY = { medium: "Memory" };

export const aboveTheirLimits: Race = {
  name: "above-their-limits",
  promise: "Pods above their limits of ephemeral storage are evicted, and those within, memory not counted, are not",
  issue: "docs/simulation.md",
  node: { ...withShortDisks(PLAIN_NODE, "single"), hasStorageLimits: true },
  events: [
    [
      20 * SECOND,
      { do: "create", shape: limited("volume", { layer: 1, volume: 300, emptyDir: { sizeLimit: "100Mi" } }) },
    ],
    [20 * SECOND, { do: "create", shape: limited("layer", { layer: 300, volume: 1, emptyDir: {}, limit: "100Mi" }) }],
    [20 * SECOND, { do: "create", shape: limited("within", { layer: 50, volume: 20, emptyDir: {}, limit: "100Mi" }) }],
    [
      20 * SECOND,
      { do: "create", shape: limited("memory", { layer: 1, volume: 300, emptyDir: MEMORY, limit: "100Mi" }) },
    ],
  ],
  watch(world, broken) {
    const evicted = evictedPods(world);
    return () => {
      const names = [...new Set(evicted.map(({ name }) => name))].toSorted().join();
      if (names !== "layer,volume") broken(`evicted were [${names}], not layer and volume`);
    };
  },
};
