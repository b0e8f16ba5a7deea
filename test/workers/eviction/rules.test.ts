// Layouts, messages, local limits, grace, pace: rules without I/O.

import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "node:test";
import { wallTime } from "../../../src/shared/base/clock/moments.js";
import type { EvictionPod, PodDiskUsage } from "../../../src/shared/contracts/eviction.js";
import { parseQuantity } from "../../../src/shared/kubernetes/api/quantity.js";
import { podUid } from "../../../src/shared/kubernetes/identifiers.js";
import { breachOf, hasLocalLimit } from "../../../src/workers/eviction/breach.js";
import { layoutOf, measuredOf, reclaimsOf, type DiskLayout } from "../../../src/workers/eviction/layout.js";
import { nodePressure } from "../../../src/workers/eviction/messages.js";
import { observe, type Sample } from "../../../src/workers/eviction/observe.js";
import { graceOf } from "../../../src/workers/eviction/outbox.js";
import { diskGapMs, disksNearlyShort, nextLookMs } from "../../../src/workers/eviction/pace.js";
import { partsOf, storageOf } from "../../../src/workers/eviction/pod-storage.js";
import { layersOf } from "../../../src/workers/eviction/writable-layers.js";
import { GIB, MIB, pod, seen, threshold } from "./kit.js";

const FAST_MS = 100;

const quantity = parseQuantity;

describe("disks", () => {
  for (const [node, images, containers, layout] of [
    [1, 1, 1, "single"],
    [1, undefined, undefined, "single"],
    [undefined, 2, 2, "single"],
    [1, 2, 2, "dedicated"],
    [1, 2, undefined, "dedicated"],
    [1, 2, 1, "split"],
  ] as const) {
    test(`on devices ${node}, ${images}, ${containers}: ${layout}`, () => {
      equal(layoutOf({ node, images, containers }), layout);
    });
  }

  const table: Record<DiskLayout, readonly [string, string, string]> = {
    // nodefs, imagefs, containerfs: D dead containers, I images / layers, logs, volumes
    single: ["DI/rlv", "DI/rlv", "DI/rlv"],
    dedicated: ["/lv", "DI/r", "DI/r"],
    split: ["D/rlv", "I/", "D/rlv"],
  };
  for (const [layout, cells] of Object.entries(table) as [DiskLayout, readonly string[]][]) {
    for (const [index, place] of (["nodefs", "imagefs", "containerfs"] as const).entries()) {
      test(`${layout}, ${place}: the reclaims of the node, and the counted usage of a pod`, () => {
        for (const signal of [`${place}.available`, `${place}.inodesFree`] as const) {
          const reclaims = reclaimsOf(layout, signal).map((way) => (way === "images" ? "I" : "D"));
          const { layers, logs, volumes } = measuredOf(layout, signal);
          const parts = (layers ? "r" : "") + (logs ? "l" : "") + (volumes ? "v" : "");
          equal(`${reclaims.join("")}/${parts}`, cells[index]);
        }
      });
    }
  }

  test("memory and process ids are nothing the node could give", () => {
    deepEqual(reclaimsOf("single", "memory.available"), []);
    deepEqual(reclaimsOf("single", "pid.available"), []);
  });
});

describe("messages", () => {
  const eater = pod("p", {
    containers: [
      { name: "a", requests: { memory: quantity("100M"), ephemeralStorage: quantity("1Gi") }, limits: {} },
      { name: "b", requests: {}, limits: {} },
      { name: "c", requests: { memory: quantity("1Gi") }, limits: {} },
    ],
  });
  const containers = new Map([
    ["a", 200 * MIB],
    ["b", 1025],
    ["c", 1 * MIB],
  ]);
  const due = [threshold("memory.available", "100Mi"), threshold("nodefs.available", "10%")];
  const observations = seen({ "memory.available": 50 * MIB, "nodefs.available": { available: 123, capacity: 10_240 } });

  test("of memory: the threshold, and each container over its request", () => {
    deepEqual(nodePressure("memory.available", due, observations, eater, { containers }), {
      message:
        "The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. " +
        "Container a was using 200Mi, request is 100M, has larger consumption of memory. " +
        "Container b was using 1025, request is 0, has larger consumption of memory. ",
      annotations: {
        offending_containers: "a,b",
        offending_containers_usage: "200Mi,1025",
        starved_resource: "memory",
      },
    });
  });

  test("of memory, with a request of the pod's own that it does not exceed", () => {
    const { message, annotations } = nodePressure(
      "allocatableMemory.available",
      [],
      observations,
      { ...eater, podLevelMemory: quantity("1Gi") },
      { pod: 2 * MIB, containers: new Map() },
    );
    equal(
      message,
      "The node was low on resource: memory. Pod p was using 2Mi, request is 1Gi, has larger consumption of memory. ",
    );
    deepEqual([annotations["offending_pod"], annotations["offending_pod_usage"]], ["p", "2Mi"]);
  });

  test("of memory, with a request of the pod's own", () => {
    const message = nodePressure(
      "allocatableMemory.available",
      [],
      observations,
      { ...eater, podLevelMemory: quantity("1Mi") },
      { pod: 2 * MIB, containers: new Map() },
    );
    deepEqual(message, {
      message:
        "The node was low on resource: memory. Pod p was using 2Mi, request is 1Mi, has larger consumption of memory. ",
      annotations: {
        offending_pod: "p",
        offending_pod_usage: "2Mi",
        offending_containers: "",
        offending_containers_usage: "",
        starved_resource: "memory",
      },
    });
  });

  test("of disk: a percentage as its amount", () => {
    const { message, annotations } = nodePressure("nodefs.available", due, observations, eater, {
      containers: new Map([["a", 1 * GIB + 1]]),
    });
    equal(
      message,
      "The node was low on resource: ephemeral-storage. Threshold quantity: 1Ki, available: 123. " +
        "Container a was using 1073741825, request is 1Gi, has larger consumption of ephemeral-storage. ",
    );
    equal(annotations["starved_resource"], "ephemeral-storage");
  });

  test("of process ids and inodes: counts are decimal, no container is named", () => {
    const pids = nodePressure(
      "pid.available",
      [threshold("pid.available", "2k")],
      seen({ "pid.available": 1000 }),
      eater,
      {
        containers: new Map(),
      },
    );
    equal(pids.message, "The node was low on resource: pids. Threshold quantity: 2k, available: 1k. ");
    equal(pids.annotations["offending_containers"], "");
  });
});

describe("local limits", () => {
  const disk: PodDiskUsage = {
    uid: podUid("uid-p"),
    at: wallTime(0),
    volumes: [
      { name: "cache", bytes: 101 * MIB, inodes: 3 },
      { name: "shm", bytes: 7 * MIB, inodes: 1 },
    ],
    logs: [{ container: "c", bytes: 10 * MIB, inodes: 1 }],
    other: { bytes: 4096, inodes: 1 },
  };
  const layers = new Map([["c", { bytes: 20 * MIB, inodes: 7 }]]);
  const volume = (name: string, limit: string, memory = false) => ({
    name,
    path: `/v/${name}`,
    memory,
    sizeLimit: quantity(limit),
  });
  const limited = (limit: string) => ({
    containers: [{ name: "c", requests: {}, limits: { ephemeralStorage: quantity(limit) } }],
  });
  const rows: readonly (readonly [string, Partial<EvictionPod>, readonly [string, string] | undefined, boolean])[] = [
    ["a volume within its limit", { volumes: [volume("cache", "101Mi")] }, undefined, true],
    [
      "a volume beyond it",
      { volumes: [volume("cache", "100Mi")] },
      ["emptydirfs.limit", 'Usage of EmptyDir volume "cache" exceeds the limit "100Mi". '],
      true,
    ],
    [
      "a volume in memory",
      { volumes: [volume("shm", "32Mi", true)] },
      ["emptydirfs.limit", 'Usage of EmptyDir volume "shm" exceeds the limit "32Mi". '],
      true,
    ],
    ["a volume limited to nothing has no limit", { volumes: [volume("cache", "0")] }, undefined, true],
    [
      "the pod as a whole",
      { ephemeralStorageLimit: quantity("130Mi") },
      ["ephemeralpodfs.limit", "Pod ephemeral local storage usage exceeds the total limit of containers 130Mi. "],
      true,
    ],
    [
      "memory is no disk of the pod's",
      { ephemeralStorageLimit: quantity("132Mi"), volumes: [volume("shm", "2Gi", true)] },
      undefined,
      true,
    ],
    [
      "a container's logs and layer",
      limited("29Mi"),
      ["ephemeralcontainerfs.limit", 'Container c exceeded its local ephemeral storage limit "29Mi". '],
      true,
    ],
    ["a container's logs alone, where layers are on another disk", limited("29Mi"), undefined, false],
  ];
  for (const [what, more, expected, layersCount] of rows) {
    test(what, () => {
      const one = pod("p", more);
      const storage = storageOf(one, disk, layers, new Map([["shm", 33 * MIB]]));
      const breach = breachOf(one, storage, layersCount);
      deepEqual(breach && [breach.limit, breach.message], expected);
      equal(hasLocalLimit(one), true);
    });
  }

  test("a pod without limits is not measured", () => equal(hasLocalLimit(pod("p")), false));

  test("parts of a pod on a disk add up", () => {
    const one = pod("p", { volumes: [volume("shm", "2Gi", true)] });
    deepEqual(partsOf(one, disk, layers, { layers: true, logs: false, volumes: false }), {
      bytes: 20 * MIB,
      inodes: 7,
    });
    deepEqual(partsOf(one, disk, layers, { layers: false, logs: true, volumes: true }), {
      bytes: 111 * MIB + 4096,
      inodes: 5,
    });
    deepEqual(partsOf(one, undefined, undefined, { layers: true, logs: true, volumes: true }), { bytes: 0, inodes: 0 });
  });
});

test("a volume that is a file system by itself takes nothing of the disk, though it has no limit", () => {
  const nothing = { bytes: 0, inodes: 0 };
  const disk: PodDiskUsage = {
    ...{ uid: podUid("uid-p"), at: wallTime(0), logs: [], other: nothing },
    volumes: [
      { name: "scratch", bytes: 3 * MIB, inodes: 2 },
      { name: "in-memory", bytes: 500 * MIB, inodes: 9, apart: true },
    ],
  };
  const onDisk = { bytes: 3 * MIB, inodes: 2 };
  deepEqual(partsOf(pod("p"), disk, undefined, { layers: true, logs: true, volumes: true }), onDisk);
  deepEqual(storageOf(pod("p"), disk, undefined).total, onDisk);
});

test("of a container's runs the newest has the layer", () => {
  const stats = (attempt: number, bytes: bigint) => ({
    attributes: {
      id: `${attempt}`,
      metadata: { name: "c", attempt },
      labels: { "io.kubernetes.pod.uid": "u" },
      annotations: {},
    },
    cpu: undefined,
    memory: undefined,
    swap: undefined,
    io: undefined,
    writableLayer: { timestamp: 0n, fsId: undefined, usedBytes: { value: bytes }, inodesUsed: { value: 1n } },
  });
  const expected = new Map([["u", new Map([["c", { bytes: 5, inodes: 1 }]])]]);
  deepEqual(layersOf([stats(0, 9n), stats(1, 5n)]), expected);
  deepEqual(layersOf([stats(1, 5n), stats(0, 9n)]), expected);
});

test("grace: a second for hard thresholds; for soft ones the smaller of both, or the pod's own", () => {
  const soft = threshold("memory.available", "1Gi", { graceMs: 1 });
  const one = pod("p", { graceSeconds: 30 });
  deepEqual(
    [
      graceOf(threshold("memory.available", "1Gi"), one, 60),
      graceOf(soft, one, 60),
      graceOf(soft, one, 10),
      graceOf(soft, one, 0),
      graceOf(soft, one, -1),
    ],
    [1, 30, 10, 0, 30],
  );
});

describe("a sample", () => {
  const sample: Sample = {
    at: 7,
    memory: { capacity: 100, workingSet: 40 },
    allocatable: { capacity: 50, workingSet: 60 },
    processes: { max: 100, current: 30 },
    nodefs: { at: 3, availableBytes: 10, capacityBytes: 20, inodesFree: 0, inodes: 0 },
    imagefs: undefined,
    containerfs: { at: 4, inodesFree: 1, inodes: 2 },
  };
  test("is read as signals; figures that a file system does not count are absent", () => {
    deepEqual(Object.fromEntries(observe(sample)), {
      "memory.available": { available: 60, capacity: 100, at: 7 },
      "allocatableMemory.available": { available: 0, capacity: 60, at: 7 },
      "nodefs.available": { available: 10, capacity: 20, at: 3 },
      "containerfs.inodesFree": { available: 1, capacity: 2, at: 4 },
      "pid.available": { available: 70, capacity: 100, at: 7 },
    });
  });
});

describe("the next sample is soon", () => {
  const next = (before: number | undefined, now: number, { stalledPart = 0, graceMs = 0 } = {}): number =>
    nextLookMs({
      periodMs: 1000,
      thresholds: [threshold("memory.available", "1Gi", { graceMs })],
      before: before === undefined ? new Map() : seen({ "memory.available": before }, 0),
      now: seen({ "memory.available": now }, 1000),
      stalledPart,
    });
  for (const [what, ms, expected] of [
    ["not while there is enough", next(undefined, 10 * GIB), 1000],
    ["not while it falls slowly", next(10.1 * GIB, 10 * GIB), 1000],
    ["when it would be out within two periods", next(4 * GIB, 2.9 * GIB), FAST_MS],
    ["when it is near, however slowly it falls", next(1.4 * GIB, 1.4 * GIB), FAST_MS],
    ["when tasks wait for memory", next(10 * GIB, 10 * GIB, { stalledPart: 0.2 }), FAST_MS],
    ["not below the threshold", next(2 * GIB, 0.9 * GIB), 1000],
    ["not for soft thresholds", next(2 * GIB, 1.1 * GIB, { graceMs: 1000 }), 1000],
  ] as const) {
    test(what, () => equal(ms, expected));
  }

  test("disks are watched for walks near their thresholds", () => {
    const full = (gib: number) =>
      disksNearlyShort([threshold("nodefs.available", "10Gi")], seen({ "nodefs.available": gib * GIB }));
    deepEqual([full(16), full(14)], [false, true]);
  });

  test("disks with much room are looked at later, those that are nearly short or not known with each sample", () => {
    const gap = (gib: number) =>
      diskGapMs([threshold("nodefs.available", "10Gi")], seen({ "nodefs.available": gib * GIB }), 1000);
    deepEqual([gap(9), gap(16), gap(31), gap(500)], [1000, 1000, 2000, 10_000]);
    equal(diskGapMs([threshold("nodefs.inodesFree", "1M")], seen({ "nodefs.inodesFree": 3_000_000 }), 1000), 3000);
    const unknown = [threshold("nodefs.available", "10Gi"), threshold("imagefs.available", "10Gi")];
    equal(diskGapMs(unknown, seen({ "nodefs.available": 500 * GIB }), 1000), 1000);
    equal(diskGapMs([threshold("memory.available", "1Gi")], seen({}), 1000), 10_000);
  });
});
