// The rounds as a whole: the orders, their times, and the waits, while things around the thread fail.
// @promise Resources of the node: A hanging or failing disk, an unresponsive runtime, vanishing files, a slow main.
//   Sampling continues, memory takes precedence, no pod is evicted by old values.

import { deepEqual, equal, ok } from "node:assert/strict";
import { afterEach, describe, test } from "node:test";
import type { EvictionInit } from "../../../src/shared/contracts/eviction.js";
import { parseQuantity } from "../../../src/shared/kubernetes/api/quantity.js";
import { podUid } from "../../../src/shared/kubernetes/identifiers.js";
import { EvictionWorld, GIB, MIB } from "./eviction-kit.js";
import { pod, threshold } from "./kit.js";

let world: EvictionWorld;
const make = (settings?: Partial<EvictionInit>): EvictionWorld => (world = new EvictionWorld(settings));
afterEach(async () => {
  await world.service.close();
  equal(world.clock.pending, 0, "timers are left");
});

describe("memory", () => {
  const a = pod("a", { containers: [{ name: "c", requests: { memory: parseQuantity("1Gi") }, limits: {} }] });
  const b = pod("b");
  const short = async (): Promise<void> => {
    world.podMemory("a", 3 * GIB);
    world.cgroup("/kubepods/burstable/poduid-a/id-c", 2 * GIB);
    world.podMemory("b", 2 * GIB);
    await world.start([a, b]);
    equal(world.orders.length, 0);
    world.nodeMemory(0.5 * GIB);
    await world.run(1100);
  };

  test("below its threshold: the pod with most usage is ordered away within one sample, with upstream's message", async () => {
    make();
    await short();
    deepEqual(world.orders, [
      {
        kind: "evict",
        uid: "uid-a",
        generation: 1,
        signal: "memory.available",
        graceSeconds: 1,
        message:
          "The node was low on resource: memory. Threshold quantity: 1Gi, available: 512Mi. " +
          "Container c was using 2Gi, request is 1Gi, has larger consumption of memory. ",
        annotations: {
          offending_containers: "c",
          offending_containers_usage: "2Gi",
          starved_resource: "memory",
        },
        sampleAgeMs: 0,
      },
    ]);
    deepEqual(
      world.records.map((record) => ("pressures" in record ? record.pressures : record.kind)),
      [[], ["MemoryPressure"], "threshold-met", "evict"],
    );
    equal(world.bits, 1);
  });

  test("the next pod is evicted when the first was removed and the pressure remains", async () => {
    make();
    await short();
    await world.run(5000);
    deepEqual(world.evicted, ["a"]);
    await world.ended("a");
    await world.run(900);
    deepEqual(world.evicted, ["a"], "what it had may not show yet");
    await world.run(1200);
    deepEqual(world.evicted, ["a", "b"]);
  });

  test("no second pod is evicted when the pressure ended with the first", async () => {
    make();
    await short();
    world.nodeMemory(2 * GIB);
    await world.ended("a");
    await world.run(60_000);
    deepEqual(world.evicted, ["a"]);
  });

  test("an end that does not come is waited for 30 s", async () => {
    make();
    await short();
    await world.run(29_000);
    deepEqual(world.evicted, ["a"]);
    await world.run(2000);
    deepEqual(world.evicted, ["a", "b"]);
    await world.run(30_000);
    deepEqual(world.evicted, ["a", "b", "a"], "no other pod is left: main gets the order again");
  });

  test("a pod that changed was not evicted: it is judged again at once", async () => {
    make();
    await short();
    world.service.applyPods({ set: [{ ...a, generation: 2 }], ended: [] });
    await world.run(1100);
    deepEqual(
      world.orders.map(({ uid, generation }) => [uid, generation]),
      [
        ["uid-a", 1],
        ["uid-a", 2],
      ],
    );
  });

  test("orders of an earlier life of the thread are waited for, its pressures held", async () => {
    make();
    world.nodeMemory(0.5 * GIB);
    world.service.setPods([a, b], [podUid("uid-b")], ["DiskPressure"]);
    await world.run(10_000);
    deepEqual(world.evicted, []);
    deepEqual(world.records[0], { kind: "pressures", pressures: ["MemoryPressure", "DiskPressure"] });
    await world.ended("b");
    await world.run(2100);
    deepEqual(world.evicted, ["a"]);
  });

  test("critical pods stay; that no pod is left is logged once", async () => {
    make();
    world.nodeMemory(0.5 * GIB);
    await world.start([pod("k", { critical: true })]);
    await world.run(5000);
    deepEqual(world.evicted, []);
    equal(world.kept.warnings().filter((line) => line.includes("no pod can be evicted")).length, 1);
  });

  test("of the pods' own cgroup counts against its limit", async () => {
    make({ enforcePods: true });
    world.podMemory("b", 2 * GIB);
    await world.start([a, b]);
    world.allocatable(8 * GIB, 7.5 * GIB);
    await world.run(1100);
    deepEqual(
      world.orders.map(({ uid, signal }) => [uid, signal]),
      [["uid-b", "allocatableMemory.available"]],
    );
  });

  test("that runs out fast is looked at faster", async () => {
    make();
    world.podMemory("a", 3 * GIB);
    await world.start([a]);
    // 1 GiB/s from 4 GiB on: it crosses 1 GiB after 3 s.
    let crossedAt: number | undefined;
    for (let left = 4 * GIB; world.orders.length === 0 && left > 0; left -= GIB / 20) {
      world.nodeMemory(left);
      if (left < GIB) crossedAt ??= world.clock.monotonic();
      await world.run(50);
    }
    ok(crossedAt !== undefined && world.clock.monotonic() - crossedAt <= 150, "looked at only after a second");
  });

  test("is sampled when the kernel reports that its threshold was crossed", async () => {
    make({ kernelMemcgNotification: true });
    world.cgroup("/", 8 * GIB, undefined, 100 * MIB);
    await world.start([a, b]);
    deepEqual(
      world.marks.map(({ directory, bytes }) => [directory, bytes]),
      [["/cg/", 15 * GIB + 100 * MIB]],
    );
    world.nodeMemory(0.5 * GIB);
    const looks = world.looks;
    for (let times = 0; times < 5; times++) {
      world.marks[0]?.crossed();
      await world.run(0);
    }
    deepEqual([world.orders.length, world.looks - looks], [1, 1]);
    await world.run(11_000);
    deepEqual(
      world.marks.map(({ disposed }) => disposed),
      [true, false],
    );
  });

  test("that cannot be read is logged once and evicts no pod; other signals are evaluated", async () => {
    make();
    await world.start([a]);
    world.nodeMemory(0.5 * GIB);
    delete world.tree.files["/cg//memory.stat"];
    const looks = world.looks;
    await world.run(30_000);
    equal(world.looks - looks, 30);
    deepEqual(world.evicted, []);
    equal(world.kept.warnings().filter((line) => line.includes("cannot read memory.available")).length, 1);
  });
});

test("process ids: the least important pod with most processes is evicted", async () => {
  make({ thresholds: [threshold("pid.available", "100")] });
  for (const [name, pids] of [
    ["few", "1\n2\n"],
    ["many", "3\n4\n5\n"],
  ] as const) {
    world.podMemory(name, 1);
    world.tree.files[`/cg/kubepods/burstable/poduid-${name}/x/cgroup.procs`] = pids;
  }
  await world.start([pod("few"), pod("many"), pod("high", { priority: 5 })]);
  world.tree.files["/proc/loadavg"] = "0.00 0.00 0.00 1/950 4711\n";
  await world.run(1100);
  deepEqual(world.evicted, ["many"]);
  equal(world.orders[0]?.message, "The node was low on resource: pids. Threshold quantity: 100, available: 50. ");
});

describe("disk", () => {
  const a = pod("a");
  const b = pod("b");
  const fill = async (settings?: Partial<EvictionInit>): Promise<void> => {
    make(settings);
    Object.assign(world.volumes, { a: 5 * GIB, b: 20 * GIB });
    await world.start([a, b]);
    await world.run(1000);
    equal(world.connected, 0, "no connection is made before a disk is short");
    world.asked.length = 0;
  };
  const full = (gib: number): void => {
    for (const path of ["/root", "/images"]) world.disks[path] = { available: gib * GIB };
  };

  test("with much room is looked at every ten seconds, and evicts within them when it is filled at once", async () => {
    make();
    full(200);
    await world.start([a]);
    await world.run(1000);
    const before = world.diskLooks["/root"] ?? 0;
    await world.run(30_000);
    equal((world.diskLooks["/root"] ?? 0) - before, 3);
    full(9);
    await world.run(12_000);
    deepEqual(world.evicted, ["a"]);
  });

  test("exited containers and unused images first; no pod is evicted if the next measurement shows that was enough", async () => {
    await fill();
    full(9);
    world.removeImages = () => {
      full(11);
      return Promise.resolve({ images: 1, bytes: 2 * GIB });
    };
    await world.run(5000);
    deepEqual(world.asked.slice(0, 2), ["removeDeadContainers", "removeUnusedImages"]);
    deepEqual(world.evicted, []);
    deepEqual(world.records.at(-1), { kind: "threshold-met", resource: "ephemeral-storage" });
  });

  test("a pod is evicted when removed images free less than the minimum to reclaim", async () => {
    await fill({ thresholds: [threshold("nodefs.available", "10Gi", { minReclaim: "5Gi" })] });
    full(9);
    world.removeImages = () => {
      full(11);
      return Promise.resolve({ images: 1, bytes: 2 * GIB });
    };
    await world.run(3000);
    deepEqual(world.evicted, ["b"]);
    // As upstream: what led to the eviction, before anything was removed.
    equal(world.orders[0]?.message.includes("Threshold quantity: 10Gi, available: 9Gi. "), true);
  });

  test("then the pod that takes most", async () => {
    await fill();
    full(9);
    await world.run(1100);
    deepEqual(
      world.orders.map(({ uid, signal, message }) => [uid, signal, message]),
      [
        [
          "uid-b",
          "nodefs.available",
          "The node was low on resource: ephemeral-storage. Threshold quantity: 10Gi, available: 9Gi. ",
        ],
      ],
    );
    equal(world.connected, 1);
    deepEqual(world.asked, ["removeDeadContainers", "removeUnusedImages", "podDisks", "listContainerStats"]);
  });

  test("a pod that was never measured is requested again, and evicted first", async () => {
    await fill();
    delete world.volumes["a"];
    full(9);
    await world.run(1100);
    equal(world.asked.filter((name) => name === "podDisks").length, 2);
    deepEqual(world.evicted, ["a"]);
  });

  for (const [what, signal, runOut] of [
    ["memory", "memory.available", () => world.nodeMemory(0.5 * GIB)],
    ["process ids", "pid.available", () => (world.tree.files["/proc/loadavg"] = "0 0 0 1/999 1\n")],
  ] as const) {
    test(`${what}: a resource that runs out meanwhile does not wait for images whose removal takes long`, async () => {
      const thresholds = [threshold("nodefs.available", "10Gi"), threshold(signal, "1Gi")];
      if (signal === "pid.available") thresholds[1] = threshold(signal, "100");
      await fill({ thresholds });
      world.podMemory("a", 3 * GIB);
      full(9);
      let removed = (): void => undefined;
      world.removeImages = () =>
        new Promise((resolve) => {
          removed = () => resolve({ images: 0, bytes: 0 });
        });
      await world.run(3000);
      deepEqual(world.evicted, []);
      runOut();
      await world.run(1100);
      deepEqual(
        world.orders.map((order) => order.signal),
        [signal],
      );
      removed();
      await world.run(3000);
      equal(world.orders.length, 1, "one order at a time");
    });
  }

  test("that hangs stops nothing, and no pod is evicted by its old figures", async () => {
    await fill();
    world.disks["/root"] = { available: 9 * GIB, hangs: true };
    world.disks["/images"] = { available: 9 * GIB, hangs: true };
    world.nodeMemory(0.5 * GIB);
    const before = world.diskLooks["/root"] ?? 0;
    await world.run(5100);
    equal((world.diskLooks["/root"] ?? 0) - before, 1, "who does not respond is not asked again");
    deepEqual(
      world.orders.map(({ signal }) => signal),
      ["memory.available"],
    );
  });

  test("that fails (EIO) is logged once; its pressure stays", async () => {
    await fill();
    full(9);
    await world.run(1100);
    world.disks["/root"] = { available: 0, fails: true };
    await world.run(10_000);
    equal(world.kept.warnings().filter((line) => line.includes("cannot read the file system of /root")).length, 1);
    equal(world.bits, 2);
  });

  test("walks that fail are logged once; the runtime's figures decide", async () => {
    await fill();
    world.walk = () => Promise.reject(new Error("main is busy"));
    world.stats = [
      {
        attributes: {
          id: "i",
          metadata: { name: "c", attempt: 0 },
          labels: { "io.kubernetes.pod.uid": "uid-a" },
          annotations: {},
        },
        cpu: undefined,
        memory: undefined,
        swap: undefined,
        io: undefined,
        writableLayer: { timestamp: 0n, fsId: undefined, usedBytes: { value: 7n }, inodesUsed: { value: 1n } },
      },
    ];
    full(9);
    await world.run(1100);
    deepEqual(world.evicted, ["b"], "of b nothing at all is known");
    equal(world.kept.warnings().filter((line) => line.includes("cannot measure")).length, 1);
  });
});

describe("limits of pods' own", () => {
  const limited = (name: string, limit: string) =>
    pod(name, { volumes: [{ name: "v", path: `/v/${name}`, memory: false, sizeLimit: parseQuantity(limit) }] });

  test("all pods beyond their limits are evicted, without any threshold being met; pods without limits are not measured", async () => {
    make();
    Object.assign(world.volumes, { a: 2 * MIB, b: 3 * MIB, c: 1 });
    await world.start([limited("a", "1Mi"), limited("b", "1Mi"), limited("c", "1Mi"), pod("free")]);
    await world.run(500);
    deepEqual(
      world.orders.map(({ uid, signal, message, graceSeconds, annotations }) => [
        uid,
        signal,
        message,
        graceSeconds,
        annotations,
      ]),
      ["a", "b"].map((name) => [
        `uid-${name}`,
        "emptydirfs.limit",
        'Usage of EmptyDir volume "v" exceeds the limit "1Mi". ',
        1,
        {},
      ]),
    );
    deepEqual([world.bits, world.connected], [0, 0]);
    await world.run(60_000);
    equal(world.orders.length, 2, "each is reported once");
  });

  test("a growing pod is found at the next measuring", async () => {
    make();
    world.volumes["a"] = 1;
    await world.start([limited("a", "1Mi")]);
    world.volumes["a"] = 2 * MIB;
    await world.run(5000);
    equal(world.orders.length, 0);
    await world.run(6000);
    deepEqual(world.evicted, ["a"]);
  });

  test("they are not looked at without localStorageCapacityIsolation", async () => {
    make({ localStorageCapacityIsolation: false });
    world.volumes["a"] = 2 * MIB;
    await world.start([limited("a", "1Mi")]);
    await world.run(20_000);
    deepEqual([world.evicted, world.asked.includes("podDisks")], [[], false]);
  });
});
