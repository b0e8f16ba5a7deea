import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { link, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Pod } from "../../../../src/shared/api/pod.js";
import { systemClock } from "../../../../src/shared/clock/clock.js";
import { claimFigures } from "../../../../src/workers/server/stats/disk/claim-figures.js";
import { takenBy } from "../../../../src/shared/stats/fs-usage.js";
import { PodDisks } from "../../../../src/workers/server/stats/disk/pod-disks.js";
import { RuntimeDisks } from "../../../../src/workers/server/stats/disk/runtime-disks.js";
import { claimOf, volumePath } from "../../../../src/shared/stats/volume-paths.js";
import { Shared } from "../../../../src/workers/server/stats/shared-answer.js";

async function withFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "nodelet-stats-"));
  try {
    await run(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const never = new AbortController().signal;

test("a walk counts blocks and inodes, hard links once", () =>
  withFolder(async (folder) => {
    await mkdir(join(folder, "a/b"), { recursive: true });
    await writeFile(join(folder, "a/b/one"), Buffer.alloc(10_000));
    const before = await takenBy(folder, systemClock, never);
    await link(join(folder, "a/b/one"), join(folder, "a/two"));
    deepEqual(await takenBy(folder, systemClock, never), before);
    equal(before.inodes, 4);
    ok(before.bytes >= 10_000, String(before.bytes));
    equal((await takenBy(folder, systemClock, never, { itself: false })).inodes, 3);
    deepEqual(await takenBy(join(folder, "none"), systemClock, never), { bytes: 0, inodes: 0 });
  }));

test("a walk rests nineteen times as long as it worked, and ends when it is called off", () =>
  withFolder(async (folder) => {
    for (let i = 0; i < 4; i++) await writeFile(join(folder, String(i)), "");
    let now = 0;
    const rests: number[] = [];
    const called = new AbortController();
    const clock = {
      // Each look at the time takes 10 ms of it.
      monotonic: () => (now += 10),
      sleep: (ms: number) => {
        rests.push(ms);
        if (rests.length === 3) called.abort(new Error("gone"));
        return Promise.resolve();
      },
    };
    await rejects(takenBy(folder, clock, called.signal), /gone/);
    equal(rests.length, 3);
    for (const rest of rests) ok(Math.abs(rest - 190) < 1, String(rest));
  }));

test("where volumes are, and which are claims", () => {
  const at = "/r/pods/u/volumes/";
  equal(volumePath("/r", "u", { name: "v", emptyDir: {} }), `${at}kubernetes.io~empty-dir/v`);
  equal(volumePath("/r", "u", { name: "v", configMap: { name: "m" } }), `${at}kubernetes.io~configmap/v`);
  equal(volumePath("/r", "u", { name: "v", csi: { driver: "d" } }), `${at}kubernetes.io~csi/v/mount`);
  equal(volumePath("/r", "u", { name: "v", hostPath: { path: "/x" } }), undefined);
  equal(claimOf("p", { name: "v", persistentVolumeClaim: { claimName: "c" } }), "c");
  equal(claimOf("p", { name: "v", ephemeral: {} }), "p-v");
  equal(claimOf("p", { name: "v", emptyDir: {} }), undefined);
});

const sample = (value: number) => ({ value, labels: { namespace: "n", persistentvolumeclaim: "c" } });
const SNAPSHOTS = [
  {
    thread: "main",
    families: [
      { name: "kubelet_volume_stats_used_bytes", help: "", type: "gauge" as const, samples: [sample(5)] },
      { name: "kubelet_volume_stats_health_status_abnormal", help: "", type: "gauge" as const, samples: [sample(1)] },
      { name: "kubelet_running_pods", help: "", type: "gauge" as const, samples: [sample(9)] },
    ],
  },
];

test("figures of claims out of main's metrics", () => {
  deepEqual([...claimFigures(SNAPSHOTS, 3)], [["n/c", { at: 3, usedBytes: 5, abnormal: 1 }]]);
});

test("a pod's volumes are measured when somebody asks, and forgotten with the pod", () =>
  withFolder(async (rootDir) => {
    const cache = `${rootDir}/pods/u/volumes/kubernetes.io~empty-dir/cache`;
    await mkdir(cache, { recursive: true });
    await writeFile(join(cache, "kept"), Buffer.alloc(5000));
    const pod: Pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "p", namespace: "n", uid: "u" },
      spec: {
        containers: [],
        volumes: [
          { name: "cache", emptyDir: {} },
          { name: "data", persistentVolumeClaim: { claimName: "c" } },
          { name: "late", emptyDir: {} },
        ],
      },
    };
    let pods = [pod];
    // A second passes when the rounds sleep for one; the test says when.
    let wake: (() => void) | undefined;
    let asleep: (() => void) | undefined;
    const clock = {
      ...systemClock,
      sleep: (_ms: number, signal?: AbortSignal) =>
        new Promise<void>((resolve, reject) => {
          wake = resolve;
          signal?.addEventListener("abort", () => reject(signal.reason as Error));
          asleep?.();
        }),
    };
    const round = (): Promise<void> => new Promise((resolve) => (asleep = resolve));
    const collectMetrics = () => Promise.resolve(SNAPSHOTS);
    const parts = {
      rootDir,
      periodMs: 60_000,
      pods: () => pods,
      collectMetrics,
      clock,
      log: { debug: () => undefined },
    };
    const disks = new PodDisks(parts);
    const first = round();
    equal(disks.of("u"), undefined);
    await first;
    const disk = disks.of("u");
    deepEqual(
      disk?.volumes.map(({ name, pvcRef, abnormal }) => ({ name, pvcRef, abnormal })),
      [
        { name: "cache", pvcRef: undefined, abnormal: undefined },
        { name: "data", pvcRef: { name: "c", namespace: "n" }, abnormal: true },
      ],
    );
    ok(disk.local.bytes >= 5000);
    equal(disk.local.inodes, 2);
    pods = [];
    const second = round();
    wake?.();
    await second;
    equal(disks.of("u"), undefined);
    await disks.close();
  }));

test("a runtime that falls silent leaves its last figures", async () => {
  let now = 0;
  let answers = true;
  const fail = new Error("away");
  const usage = {
    timestamp: 5_000_000n,
    fsId: { mountpoint: "/" },
    usedBytes: { value: 7n },
    inodesUsed: { value: 2n },
  };
  const listContainerStats = () =>
    answers ? Promise.resolve({ stats: [{ attributes: { id: "abc" }, writableLayer: usage }] }) : Promise.reject(fail);
  const imageFsInfo = () => Promise.resolve({ imageFilesystems: [usage], containerFilesystems: [] });
  const disks = new RuntimeDisks({
    runtime: () => Promise.resolve({ listContainerStats } as never),
    images: () => Promise.resolve({ imageFsInfo } as never),
    clock: { ...systemClock, monotonic: () => now },
    log: { debug: () => undefined },
  });
  const first = await disks.now();
  equal(first.layers.get("abc")?.usedBytes, 7);
  equal(first.imageFs?.at, 5);
  equal(first.containerFs?.inodesUsed, 2);
  ok((first.imageFs.capacityBytes ?? 0) > 0);
  answers = false;
  now += 10_000;
  equal(await disks.now(), first);
});

test("an answer is shared within its life, a failed one is made again", async () => {
  let now = 0;
  let made = 0;
  const make = (): Promise<number> => (++made === 2 ? Promise.reject(new Error("no")) : Promise.resolve(made));
  const shared = new Shared(100, { monotonic: () => now }, make);
  deepEqual(await Promise.all([shared.get(), shared.get()]), [1, 1]);
  now = 99;
  equal(await shared.get(), 1);
  now = 100;
  await rejects(shared.get(), /no/);
  equal(await shared.get(), 3);
});
