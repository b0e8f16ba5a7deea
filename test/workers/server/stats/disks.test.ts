import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../../../../src/shared/base/clock/clock.js";
import { monotonicTime, wallTime } from "../../../../src/shared/base/clock/moments.js";
import type { PodDiskUsage } from "../../../../src/shared/contracts/eviction.js";
import { volumePath } from "../../../../src/shared/kubernetes/api/pod-paths.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { fsFigures } from "../../../../src/shared/node/stats/read-fs-figures.js";
import { claimFigures } from "../../../../src/workers/server/stats/disk/claim-figures.js";
import { PodDisks, claimOf } from "../../../../src/workers/server/stats/disk/pod-disks.js";
import { RuntimeDisks } from "../../../../src/workers/server/stats/disk/runtime-disks.js";
import { nodeFileSystems } from "../../../../src/workers/server/stats/node/file-systems.js";
import { Shared } from "../../../../src/workers/server/stats/shared-answer.js";
import { until } from "../../../support/sources-kit.js";
import { volumeCalls } from "../../../support/volume-calls.js";

async function withFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "nodelet-stats-"));
  try {
    await run(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

test("where volumes are, and which are claims", () => {
  const at = "/r/pods/u/volumes/";
  equal(volumePath("/r", podUid("u"), { name: "v", emptyDir: {} }), `${at}kubernetes.io~empty-dir/v`);
  equal(volumePath("/r", podUid("u"), { name: "v", configMap: { name: "m" } }), `${at}kubernetes.io~configmap/v`);
  equal(volumePath("/r", podUid("u"), { name: "v", csi: { driver: "d" } }), `${at}kubernetes.io~csi/v/mount`);
  equal(volumePath("/r", podUid("u"), { name: "v", hostPath: { path: "/x" } }), undefined);
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

interface Asked {
  uids: string[];
  maxAgeMs: number;
}

/** Main, which says what the test has put there. */
class Main {
  readonly asked: Asked[] = [];
  figures: PodDiskUsage[] = [];
  fails = false;
  now = 0;
  pods: Pod[] = [];

  disks(rootDir: string, periodMs = 60_000): PodDisks {
    return new PodDisks({
      rootDir,
      periodMs,
      pods: () => this.pods,
      usage: (uids, maxAgeMs) => {
        this.asked.push({ uids, maxAgeMs });
        return this.fails ? Promise.reject(new Error("away")) : Promise.resolve(this.figures);
      },
      collectMetrics: () => Promise.resolve(SNAPSHOTS),
      calls: volumeCalls(),
      clock: { ...systemClock, monotonic: () => monotonicTime(this.now) },
      log: { debug: () => undefined },
    });
  }
}

const POD: Pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", namespace: "n", uid: podUid("u") },
  spec: {
    containers: [],
    volumes: [
      { name: "cache", emptyDir: {} },
      { name: "data", persistentVolumeClaim: { claimName: "c" } },
      { name: "late", emptyDir: {} },
    ],
  },
};

const USAGE: PodDiskUsage = {
  uid: podUid("u"),
  at: wallTime(7),
  volumes: [{ name: "cache", bytes: 5000, inodes: 2 }],
  logs: [{ container: "app", bytes: 300, inodes: 1 }],
  other: { bytes: 20, inodes: 1 },
};

/** Until main has been asked so often, and its answer worked in. */
async function settled(main: Main, times: number, done: () => boolean): Promise<void> {
  await until(() => main.asked.length >= times && done());
}

test("main's figures, by volume and container; removed with the pod", () =>
  withFolder(async (rootDir) => {
    await mkdir(`${rootDir}/pods/u/volumes/kubernetes.io~empty-dir/cache`, { recursive: true });
    const main = new Main();
    main.pods = [POD];
    main.figures = [USAGE];
    const disks = main.disks(rootDir);
    equal(disks.of(podUid("u")), undefined);
    equal(main.asked.length, 0);
    disks.ask();
    await settled(main, 1, () => disks.of(podUid("u")) !== undefined);
    deepEqual(main.asked, [{ uids: ["u"], maxAgeMs: 60_000 }]);
    const disk = disks.of(podUid("u"));
    deepEqual(
      disk?.volumes.map(({ name, pvcRef, abnormal }) => ({ name, pvcRef, abnormal })),
      [
        { name: "cache", pvcRef: undefined, abnormal: undefined },
        { name: "data", pvcRef: { name: "c", namespace: "n" }, abnormal: true },
      ],
    );
    equal(disk.volumes[0]?.usedBytes, 5000);
    ok((disk.volumes[0].capacityBytes ?? 0) > 0);
    deepEqual(disk.local, { bytes: 5020, inodes: 3 });
    deepEqual(disk.logs.get("app"), { bytes: 300, inodes: 1 });
    // Main is asked at most every five seconds.
    disks.ask();
    main.pods = [];
    main.now = 5000;
    disks.ask();
    await settled(main, 2, () => disks.of(podUid("u")) === undefined);
    equal(main.asked.length, 2);
    await disks.close();
  }));

test("while main is unreachable its last figures stay; a new pod is requested a second later", () =>
  withFolder(async (rootDir) => {
    const main = new Main();
    main.pods = [POD];
    main.figures = [USAGE];
    const disks = main.disks(rootDir, 0);
    disks.ask();
    await settled(main, 1, () => disks.of(podUid("u")) !== undefined);
    // volumeStatsAggPeriod 0: volumes are not shown, logs are.
    deepEqual(disks.of(podUid("u"))?.volumes, []);
    main.fails = true;
    main.pods = [POD, { ...POD, metadata: { ...POD.metadata, uid: podUid("v") } }];
    main.now = 999;
    disks.ask();
    equal(main.asked.length, 1);
    main.now = 1000;
    disks.ask();
    equal(main.asked.length, 2);
    await disks.close();
    equal(disks.of(podUid("u"))?.at, 7);
    equal(disks.of(podUid("v")), undefined);
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
  const containers = () =>
    answers ? Promise.resolve([{ attributes: { id: "abc" }, writableLayer: usage }] as never) : Promise.reject(fail);
  const imageFsInfo = () => Promise.resolve({ imageFilesystems: [usage], containerFilesystems: [] });
  const disks = new RuntimeDisks({
    containers,
    images: () => Promise.resolve({ imageFsInfo } as never),
    figures: (path) => fsFigures(path, now),
    clock: { ...systemClock, monotonic: () => monotonicTime(now) },
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

test("a response is shared within its life, a failed one is requested again", async () => {
  let now = 0;
  let made = 0;
  const make = (): Promise<number> => (++made === 2 ? Promise.reject(new Error("no")) : Promise.resolve(made));
  const timers: (() => void)[] = [];
  const clock = {
    monotonic: () => monotonicTime(now),
    after: (ms: number, fn: () => void) => {
      equal(ms, 100);
      timers.push(fn);
      const timer = { cancel: () => undefined, unref: () => timer };
      return timer;
    },
  };
  const shared = new Shared(100, clock, make);
  deepEqual(await Promise.all([shared.get(), shared.get()]), [1, 1]);
  now = 99;
  equal(await shared.get(), 1);
  now = 100;
  await rejects(shared.get(), /no/);
  equal(await shared.get(), 3);
  // At the end of its validity it is dropped, though no request comes; a later one is not affected by an earlier one's
  // end.
  timers[0]?.();
  equal(await shared.get(), 3);
  timers[2]?.();
  equal(await shared.get(), 4);
});

test("no request waits for a runtime that is known to be silent", async () => {
  let now = 0;
  let calls = 0;
  let give: ((stats: never[]) => void) | undefined;
  const disks = new RuntimeDisks({
    containers: () => {
      calls++;
      if (calls === 1) return Promise.reject(new Error("deadline"));
      return new Promise<never[]>((resolve) => (give = resolve));
    },
    images: () =>
      Promise.resolve({ imageFsInfo: () => Promise.resolve({ imageFilesystems: [], containerFilesystems: [] }) }),
    figures: () => Promise.resolve(undefined),
    clock: { ...systemClock, monotonic: () => monotonicTime(now) },
    log: { debug: () => undefined },
  });
  equal((await disks.now()).layers.size, 0);
  now = 10_000;
  equal((await disks.now()).layers.size, 0);
  equal(calls, 2);
  give?.([]);
  await new Promise((resolve) => setImmediate(resolve));
  // It responds again: a request after a long time waits for it again.
  now = 60_000;
  const late = disks.now();
  equal(calls, 3);
  give?.([{ attributes: { id: "a" }, writableLayer: { timestamp: 1n } }] as never);
  equal((await late).layers.size, 1);
});

test("file systems of the node: those on disks once, memory by its place, the root directory's of any kind", () => {
  const row = (mountPoint: string, fsType: string, source: string): string =>
    `1 0 0:1 / ${mountPoint} rw - ${fsType} ${source} rw\n`;
  const mounts = [
    row("/", "overlay", "overlay"),
    row("/boot", "ext4", "/dev/vda1"),
    row("/mnt/again", "ext4", "/dev/vda1"),
    row("/run", "tmpfs", "tmpfs"),
    row("/run/containerd/io.containerd.grpc/shm", "tmpfs", "shm"),
    row("/var/lib/kubelet/pods/u/volumes/x", "tmpfs", "tmpfs"),
    row("/mnt/far", "nfs4", "server:/x"),
    row("/proc", "proc", "proc"),
  ].join("");
  deepEqual(nodeFileSystems(mounts, "/var/lib/kubelet"), [
    { device: "/dev/vda1", mountPoint: "/boot" },
    { device: "/run", mountPoint: "/run" },
    { device: "overlay", mountPoint: "/" },
  ]);
  const own = mounts + row("/var/lib/kubelet", "xfs", "/dev/vdb");
  deepEqual(nodeFileSystems(own, "/var/lib/kubelet").at(-1), { device: "/dev/vdb", mountPoint: "/var/lib/kubelet" });
});
