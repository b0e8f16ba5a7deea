// Shortages of memory: which pods are evicted, and what an end of the kubelet changes.

import type { PodShape } from "../plan/pod-shapes.js";
import { PLAIN_NODE, SHORTAGE_FIELDS, withPodCgroups, withShortPids, withSoftThresholds } from "../world/node-shape.js";
import { evictedPods } from "./evicted-pods.js";
import { podOf } from "./pods.js";
import { SECOND, type Race } from "./race.js";

const HERE = "docs/simulation.md";
const plain = withPodCgroups(PLAIN_NODE);
const node = { ...plain, isShortOfMemory: true, fields: { ...plain.fields, ...SHORTAGE_FIELDS } } as const;

function using(name: string, mebibytes: number, more: Partial<Parameters<typeof podOf>[0]> = {}): PodShape {
  const resources = { requests: { cpu: "10m", memory: "16Mi" } };
  return { ...podOf({ name, container: { resources }, ...more }), useMiB: { main: mebibytes } };
}

export const shortageOfMemory: Race = {
  name: "shortage-of-memory",
  promise: "The pods that exceed their requests by most are evicted, one for each shortage, and no static pod",
  issue: HERE,
  node,
  events: [
    [20 * SECOND, { do: "create", shape: using("small", 40) }],
    [20 * SECOND, { do: "create", shape: using("large", 400) }],
    [20 * SECOND, { do: "create", shape: using("middle", 200) }],
    [20 * SECOND, { do: "create", shape: using("static", 900, { static: {} }) }],
    [120 * SECOND, { do: "memory-short", leftMiB: 50, ms: 70 * SECOND }],
    [220 * SECOND, { do: "memory-short", leftMiB: 0, ms: 70 * SECOND }],
  ],
  watch(world, broken) {
    const evicted = evictedPods(world);
    return () => {
      const names = evicted.map(({ name }) => name).join();
      if (names !== "large,middle") broken(`evicted were [${names}], not large and then middle`);
    };
  },
};

export const killedWhileEvicting: Race = {
  name: "killed-while-evicting",
  promise: "A kubelet that was killed during an eviction ends it, and evicts no other pod for the same shortage",
  issue: HERE,
  node,
  events: [
    [20 * SECOND, { do: "create", shape: using("large", 400, { script: { stopsMs: Infinity } }) }],
    [20 * SECOND, { do: "create", shape: using("middle", 200) }],
    [118 * SECOND, { do: "runtime-error", verb: "StopContainer", spec: "2*hang", when: "before" }],
    [119 * SECOND, { do: "aim", verb: "StopContainer", fault: { do: "kill", downMs: 5 * SECOND } }],
    [120 * SECOND, { do: "memory-short", leftMiB: 50, ms: 100 * SECOND }],
  ],
  watch(world, broken) {
    const evicted = evictedPods(world);
    return () => {
      if (evicted[0]?.name !== "large") broken("the race did not come about");
      if (evicted.some(({ name }) => name !== "large")) broken("another pod is evicted, too", "middle");
    };
  },
};

const GRACE_MS = 20 * SECOND;
const SECOND_SHORTAGE = 180 * SECOND;

export const softThreshold: Race = {
  name: "soft-threshold",
  promise: "A shortage that is shorter than a soft threshold's grace period evicts no pod, and a longer one after it",
  issue: HERE,
  node: withSoftThresholds(node, { graceSeconds: GRACE_MS / SECOND, mostGraceSeconds: 3 }),
  events: [
    [20 * SECOND, { do: "create", shape: using("small", 40) }],
    [20 * SECOND, { do: "create", shape: using("large", 400, { script: { stopsMs: Infinity }, graceSeconds: 30 }) }],
    [120 * SECOND, { do: "memory-short", leftMiB: 900, ms: GRACE_MS - 2 * SECOND }],
    [SECOND_SHORTAGE, { do: "memory-short", leftMiB: 900, ms: 60 * SECOND }],
  ],
  watch(world, broken) {
    const evicted = evictedPods(world);
    return () => {
      const names = evicted.map(({ name }) => name).join();
      if (names !== "large") broken(`evicted were [${names}], not large`);
      const atMs = evicted[0]?.atMs ?? 0;
      if (atMs < SECOND_SHORTAGE + GRACE_MS) broken(`the pod is evicted after ${atMs} ms`, "large");
    };
  },
};

function forking(name: string, processes: number): PodShape {
  return { ...podOf({ name }), processes: { main: processes } };
}

export const shortageOfPids: Race = {
  name: "shortage-of-pids",
  promise: "The pod with most processes is evicted when process ids are short, and no other",
  issue: HERE,
  node: withShortPids(plain),
  events: [
    [20 * SECOND, { do: "create", shape: forking("few", 3) }],
    [20 * SECOND, { do: "create", shape: forking("most", 900) }],
    [20 * SECOND, { do: "create", shape: forking("some", 400) }],
    [120 * SECOND, { do: "pids-short", below: "hard", missing: 500, ms: 70 * SECOND }],
  ],
  watch(world, broken) {
    const evicted = evictedPods(world);
    return () => {
      const names = evicted.map(({ name }) => name).join();
      if (names !== "most") broken(`evicted were [${names}], not most`);
    };
  },
};
