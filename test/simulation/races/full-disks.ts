// A disk without a byte left: what the kubelet cannot write meanwhile.

import { ContainerState } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { kernel } from "../kernel/kernel.js";
import { PLAIN_NODE, withShortDisks } from "../world/node-shape.js";
import { podNameOf } from "../world/pod-facts.js";
import { evictedPods } from "./evicted-pods.js";
import { podOf, runsOf } from "./pods.js";
import { SECOND, type Race } from "./race.js";
import { writing } from "./short-disks.js";

const HERE = "docs/simulation.md";
const node = { ...withShortDisks(PLAIN_NODE, "single"), fillsUp: true } as const;
const FULL = 120 * SECOND;

export const evictedOnAFullDisk: Race = {
  name: "evicted-on-a-full-disk",
  promise:
    "The pod that has most of a full disk is evicted, and no later kubelet runs it, though no record was written",
  issue: HERE,
  node,
  events: [
    [20 * SECOND, { do: "create", shape: writing("large", { layer: 1500 }) }],
    [20 * SECOND, { do: "create", shape: writing("small", { layer: 100 }) }],
    [FULL, { do: "disk-full", place: "nodefs", what: "bytes", refills: true, ms: 25 * SECOND }],
    [FULL, { do: "api-away", ms: 80 * SECOND }],
    // The record of the eviction has been tried again.
    [FULL + 45 * SECOND, { do: "kill", downMs: 1 * SECOND }],
  ],
  watch(world, broken) {
    const evicted = evictedPods(world);
    const runs = runsOf(world, "large");
    return () => {
      const [first] = evicted;
      if (first?.name !== "large") broken(`evicted were [${evicted.map(({ name }) => name).join()}], not large first`);
      const later = runs.find(({ did, atMs }) => did === "start" && atMs > (first?.atMs ?? 0));
      if (later !== undefined) broken(`the evicted pod runs again after ${later.atMs} ms`, "large");
    };
  },
};

export const restartedOnAFullDisk: Race = {
  name: "restarted-on-a-full-disk",
  promise: "A container of a static pod starts again on a full disk, and its neighbour keeps its hosts file",
  issue: HERE,
  node,
  events: [
    [20 * SECOND, { do: "create", shape: podOf({ name: "two", static: {}, beside: {}, isSteady: false }) }],
    [FULL, { do: "disk-full", place: "nodefs", what: "bytes", refills: true, ms: 60 * SECOND }],
    [FULL + 5 * SECOND, { do: "container-dies", pick: 0 }],
  ],
  watch(world, broken) {
    const runs = runsOf(world, "two");
    return () => {
      const isInTime = ({ did, atMs }: (typeof runs)[number]): boolean =>
        did === "start" && atMs > FULL && atMs < FULL + 60 * SECOND;
      if (!runs.some(isInTime)) broken("the container did not start on the full disk", "two");
    };
  },
};

export const startedOnAFullDisk: Race = {
  name: "started-on-a-full-disk",
  promise: "A kubelet starts on a disk without a byte left, and no container ends by that",
  issue: HERE,
  node,
  events: [
    [20 * SECOND, { do: "create", shape: podOf({ name: "static", static: {} }) }],
    [20 * SECOND, { do: "create", shape: podOf({ name: "plain" }) }],
    [FULL, { do: "disk-full", place: "nodefs", what: "bytes", refills: true, ms: 100 * SECOND }],
    [FULL + 1 * SECOND, { do: "kill", downMs: 1 * SECOND }],
  ],
  watch(world, broken) {
    let startedAt: number | undefined;
    kernel.after(kernel.world, FULL + 90 * SECOND, () => {
      startedAt = world.facts.startedAt;
    });
    return () => {
      if (startedAt === undefined || startedAt < FULL) broken("no kubelet has started on the full disk");
      const isRunning = [...world.runtime.state.containers.values()].some(
        ({ config, status }) =>
          podNameOf(config.labels) === "static" && status.state === ContainerState.CONTAINER_RUNNING,
      );
      if (!isRunning) broken("the container does not run", "static");
    };
  },
};
