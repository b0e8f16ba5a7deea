// Disk usage of pods: one job at a time, turns between pods, pauses between jobs, figures with their time, limited
// waits.
// @promise Volumes: For any number of requests for disk usage, one walk runs at a time. It takes at most a tenth of a
//   core. None runs for a removed pod.

import assert from "node:assert/strict";
import { test } from "node:test";
import { DiskUsage } from "../../../../src/main/pods/disk-usage/disk-usage.js";
import type { PodDiskUsage } from "../../../../src/shared/contracts/eviction.js";
import type { DirectoryUsageJob, DirectoryUsageResult } from "../../../../src/shared/contracts/tasks.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { pod } from "../../../support/pods.js";
import { keptLog } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { hang, settle } from "../../../support/sync-kit.js";

const NEVER = 0;

function build(names: readonly string[] = ["a", "b", "c"]) {
  const clock = new SteppedClock();
  clock.step(1_000_000);
  const kept = keptLog();
  const pods = new Map(names.map((name) => [name, pod({ volumes: [{ name: "data", emptyDir: {} }] }, name, name)]));
  const world = {
    jobs: [] as DirectoryUsageJob[],
    atOnce: 0,
    most: 0,
    /** Jobs that a pod takes, and what each costs. */
    partsOf: (() => 1) as (root: string) => number,
    workMs: 1,
    script: undefined as ((job: DirectoryUsageJob, signal: AbortSignal) => Promise<DirectoryUsageResult>) | undefined,
    aborted: 0,
    quotas: new Map<string, { bytes: number; inodes: number }>(),
  };
  const walk = async (job: DirectoryUsageJob, _uid: string, signal: AbortSignal): Promise<DirectoryUsageResult> => {
    world.jobs.push(job);
    world.most = Math.max(world.most, ++world.atOnce);
    try {
      await Promise.resolve();
      if (world.script !== undefined) return await world.script(job, signal);
      const trees = job.trees.map(({ root, place }) => {
        const left = (place?.[0] ?? world.partsOf(root)) - 1;
        const found = { bytes: 100.25, inodes: 0.75 };
        return left === 0 ? { ...found, done: true } : { ...found, done: false, place: Uint8Array.of(left) };
      });
      return { trees, workMs: world.workMs };
    } finally {
      if (signal.aborted) world.aborted++;
      world.atOnce--;
    }
  };
  const usage = new DiskUsage({
    places: { rootDir: "/r", podLogsDir: "/l" },
    pod: (uid) => pods.get(uid),
    walk,
    quota: (directory) => Promise.resolve(world.quotas.get(directory)),
    clock,
    log: kept.log,
  });
  return { usage, world, clock, pods, kept };
}

/** Returns the UIDs of the pods whose directories the jobs measured, in order. */
function walked(jobs: readonly DirectoryUsageJob[]): string[] {
  return jobs.map(({ trees }) => /^\/r\/pods\/([^/]+)\//.exec(trees[0]?.root ?? "")?.[1] ?? "?");
}

test("each pod once, one at a time, in the order of requests; figures that are new enough are not measured again", async () => {
  const { usage, world, clock } = build();
  const [first, second] = await Promise.all([
    usage.of([podUid("a"), podUid("b")], 1000),
    usage.of([podUid("b"), podUid("c"), podUid("nobody")], 1000),
  ]);
  assert.deepEqual([walked(world.jobs), world.most], [["a", "b", "c"], 1]);
  assert.deepEqual(
    first.map(({ uid }) => uid),
    ["a", "b"],
  );
  assert.deepEqual(
    second.map(({ uid }) => uid),
    ["b", "c"],
  );
  const whole: PodDiskUsage = {
    uid: podUid("a"),
    at: clock.now(),
    volumes: [{ name: "data", bytes: 100, inodes: 1 }],
    logs: [{ container: "app", bytes: 100, inodes: 1 }],
    // Of /etc/hosts and of the termination messages.
    other: { bytes: 200, inodes: 2 },
  };
  assert.deepEqual(first[0], whole);
  clock.step(999);
  await usage.of([podUid("a"), podUid("b"), podUid("c")], 1000);
  assert.equal(world.jobs.length, 3);
  clock.step(2);
  await usage.of([podUid("b")], 1000);
  assert.deepEqual(walked(world.jobs.slice(3)), ["b"]);
});

test("a volume with a quota is not walked, and is measured again for each caller that needs newer figures", async () => {
  const { usage, world, clock } = build();
  const directory = "/r/pods/a/volumes/kubernetes.io~empty-dir/data";
  world.quotas.set(directory, { bytes: 7000, inodes: 5 });
  const [first] = await usage.of([podUid("a")], 1000);
  assert.deepEqual(first?.volumes, [{ name: "data", bytes: 7000, inodes: 5 }]);
  assert.ok(world.jobs.every(({ trees }) => trees.every(({ root }) => root !== directory)));
  assert.deepEqual(first.other, { bytes: 200, inodes: 2 }, "the rest is walked");
  world.quotas.set(directory, { bytes: 9000, inodes: 6 });
  clock.step(1001);
  const [second] = await usage.of([podUid("a")], 1000);
  assert.deepEqual(second?.volumes, [{ name: "data", bytes: 9000, inodes: 6 }]);
});

test("a big pod takes several jobs with rests between them, and then the sum is there", async () => {
  const { usage, world, clock } = build();
  Object.assign(world, { partsOf: () => 4, workMs: 20 });
  const answer = usage.of([podUid("a")], 1000, 10_000);
  for (let job = 1; job <= 4; job++) {
    await settle();
    assert.equal(world.jobs.length, job, "a tenth of a core: 20 ms of work, then 180 ms of rest");
    clock.step(179);
    await settle();
    assert.equal(world.jobs.length, job);
    clock.step(1);
  }
  const [found] = await answer;
  assert.deepEqual(found?.volumes, [{ name: "data", bytes: 401, inodes: 3 }]);
  assert.deepEqual(world.jobs.at(-1)?.trees[0]?.place, Uint8Array.of(1));
  assert.equal(clock.pending, 0);
});

test("pods take turns by jobs: a pod with many files delays the others by one job each", async () => {
  const { usage, world, kept } = build();
  Object.assign(world, { partsOf: (root: string) => (root.includes("/a/") ? 5 : 2), workMs: 0 });
  const found = await usage.of([podUid("a"), podUid("b"), podUid("c")], 1000, 10_000);
  assert.deepEqual(walked(world.jobs), ["a", "b", "c", "a", "b", "c", "a", "a", "a"]);
  assert.deepEqual(
    found.map(({ uid, other }) => [uid, other.bytes]),
    [
      ["a", 1002],
      ["b", 402],
      ["c", 402],
    ],
  );
  assert.deepEqual(kept.warnings(), []);
});

test("a caller that does not wait gets the present figures; the walk continues for the next one", async () => {
  const { usage, world, clock } = build();
  world.workMs = 5;
  assert.deepEqual(await usage.of([podUid("a")], 1000, NEVER), []);
  const late = usage.of([podUid("a"), podUid("b")], 1000, 20);
  await settle();
  clock.step(20);
  assert.deepEqual(
    (await late).map(({ uid }) => uid),
    ["a"],
    "the rest before the second pod was longer",
  );
  clock.step(25);
  await settle();
  assert.deepEqual(
    (await usage.of([podUid("a"), podUid("b")], 1000, NEVER)).map(({ uid }) => uid),
    ["a", "b"],
  );
  assert.equal(world.jobs.length, 2);
});

test("a pod that goes is walked no further, and takes its figures with it", async () => {
  const { usage, world, pods } = build();
  await usage.of([podUid("b")], 1000);
  world.script = (_job, signal) => hang(signal);
  const answer = usage.of([podUid("a"), podUid("b"), podUid("c")], -1, 10_000);
  await settle();
  world.script = undefined;
  for (const uid of ["a", "b"]) {
    pods.delete(uid);
    usage.podRemoved(podUid(uid));
  }
  assert.deepEqual(
    (await answer).map(({ uid }) => uid),
    ["c"],
  );
  assert.deepEqual([walked(world.jobs), world.aborted], [["b", "a", "c"], 1]);
});

test("a failed walk is reported, the last figures count, and the others are measured", async () => {
  const { usage, world, kept } = build();
  await usage.of([podUid("a")], 1000);
  world.script = () => Promise.reject(new Error("the disk is ill"));
  const [old] = await usage.of([podUid("a"), podUid("b")], -1);
  assert.equal(old?.uid, "a");
  assert.deepEqual(walked(world.jobs), ["a", "a", "b"]);
  assert.match(kept.warnings().join("\n"), /cannot measure the disk usage of pod a_default\(a\): the disk is ill/);
});

test("the stop ends a walk and all waits", async () => {
  const { usage, world, clock } = build();
  world.script = (_job, signal) => hang(signal);
  const answer = usage.of([podUid("a"), podUid("b")], 1000, 60_000);
  await settle();
  const stopped = usage.stop();
  await settle();
  clock.step(60_000);
  assert.deepEqual(await answer, []);
  await stopped;
  assert.deepEqual(await usage.of([podUid("a")], 1000), []);
  assert.equal(world.jobs.length, 1);
});

test("a volume that is a file system by itself is one in the figures, too", async () => {
  const { usage, world } = build(["a"]);
  world.script = ({ trees }) => {
    const found = trees.map(({ root }) => {
      const part = { bytes: 4, inodes: 1, done: true };
      return root.includes("/volumes/") ? { ...part, apart: true } : part;
    });
    return Promise.resolve({ trees: found, workMs: 1 });
  };
  const [figures] = await usage.of([podUid("a")], NEVER);
  assert.deepEqual(figures?.volumes, [{ name: "data", bytes: 4, inodes: 1, apart: true }]);
});
