// Exits seen through cgroup directories: the watches on a real file system, the looks after them under virtual time.

import assert from "node:assert/strict";
import { mkdir, rm, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { podUid } from "../../../src/shared/kubernetes/identifiers.js";
import { CgroupWatches } from "../../../src/workers/pleg/cgroup-watches.js";
import { ExitFollowUp } from "../../../src/workers/pleg/exit-follow-up.js";
import { keptLog, temporaryFolder, until } from "../../support/sources-kit.js";
import { SteppedClock } from "../../support/stepped-clock.js";

test("looks come 14, 20, 28, 45, 80, 150, 300 and 1000 ms after the removal, then no more", () => {
  const clock = new SteppedClock();
  const looks: number[] = [];
  const followUp = new ExitFollowUp(clock, () => looks.push(clock.now()));
  followUp.start(podUid("u"));
  clock.step(10_000);
  assert.deepEqual(looks, [14, 20, 28, 45, 80, 150, 300, 1000]);
  assert.equal(clock.pending, 0);
});

test("a change ends the checks of its pod only; another removal starts them again", () => {
  const clock = new SteppedClock();
  const looks: string[] = [];
  const followUp = new ExitFollowUp(clock, (uid) => looks.push(`${uid}@${clock.now()}`));
  followUp.start(podUid("a"));
  followUp.start(podUid("b"));
  clock.step(15);
  followUp.end(podUid("a"));
  clock.step(15);
  assert.deepEqual(looks, ["a@14", "b@14", "b@20", "b@28"]);
  followUp.start(podUid("b"));
  clock.step(20);
  assert.deepEqual(looks.slice(4), ["b@44", "b@50"]);
  followUp.close();
  clock.step(10_000);
  assert.equal(looks.length, 6);
  assert.equal(clock.pending, 0);
});

test("a look that ends the following does not start it again", () => {
  const clock = new SteppedClock();
  let looks = 0;
  const followUp = new ExitFollowUp(clock, (uid) => {
    looks++;
    followUp.end(uid);
  });
  followUp.start(podUid("u"));
  clock.step(10_000);
  assert.equal(looks, 1);
});

async function watches(t: Parameters<typeof temporaryFolder>[0]) {
  const folder = await temporaryFolder(t);
  const kept = keptLog();
  const exits: string[] = [];
  const watched = new CgroupWatches((uid) => exits.push(uid), kept.log);
  t?.after(() => watched.close());
  const podDirectory = async (name: string): Promise<string> => {
    const path = join(folder, name);
    await mkdir(path);
    return path;
  };
  /** Makes and removes a directory. */
  const live = async (directory: string): Promise<void> => {
    await mkdir(join(directory, "container"));
    await rmdir(join(directory, "container"));
  };
  return { folder, kept, exits, watched, podDirectory, live };
}

test("a removed directory is an exit; a new directory or a changed file is none", async (t) => {
  const { exits, watched, podDirectory } = await watches(t);
  const [a, b] = [await podDirectory("a"), await podDirectory("b")];
  watched.add({ uid: podUid("uid-a"), watchDirs: [a] });
  watched.add({ uid: podUid("uid-b"), watchDirs: [b] });
  await mkdir(join(a, "made"));
  await writeFile(join(a, "cgroup.procs"), "1");
  // A sign that the events before it have been heard.
  await mkdir(join(b, "x"));
  await rmdir(join(b, "x"));
  await until("b's exit", () => exits.includes("uid-b"));
  assert.ok(!exits.includes("uid-a"));
  await rmdir(join(a, "made"));
  await until("a's exit", () => exits.includes("uid-a"));
});

test("set replaces the whole set; remove and close end watches", async (t) => {
  const { exits, watched, podDirectory, live } = await watches(t);
  const [a, b, c] = [await podDirectory("a"), await podDirectory("b"), await podDirectory("c")];
  watched.set([
    { uid: podUid("uid-a"), watchDirs: [a] },
    { uid: podUid("uid-b"), watchDirs: [b] },
  ]);
  watched.set([
    { uid: podUid("uid-b"), watchDirs: [b] },
    { uid: podUid("uid-c"), watchDirs: [c] },
  ]);
  await live(a);
  await live(b);
  await live(c);
  await until("b and c", () => exits.includes("uid-b") && exits.includes("uid-c"));
  assert.ok(!exits.includes("uid-a"), "no longer watched");
  exits.length = 0;
  watched.remove(podUid("uid-b"));
  await live(b);
  await live(c);
  await until("c", () => exits.includes("uid-c"));
  assert.ok(!exits.includes("uid-b"));
});

test("a cgroup that was made again is watched again", async (t) => {
  const { exits, watched, podDirectory, live, folder } = await watches(t);
  const a = await podDirectory("a");
  watched.add({ uid: podUid("uid-a"), watchDirs: [a] });
  await rm(join(folder, "a"), { recursive: true });
  await podDirectory("a");
  watched.add({ uid: podUid("uid-a"), watchDirs: [a] });
  await live(a);
  await until("the exit", () => exits.includes("uid-a"));
});

test("a directory that is not there costs a warning, and the pod does not count as watched", async (t) => {
  const { kept, watched, podDirectory, folder } = await watches(t);
  watched.add({ uid: podUid("uid-a"), watchDirs: [await podDirectory("a")] });
  watched.add({ uid: podUid("uid-b"), watchDirs: [join(folder, "nowhere")] });
  watched.add({ uid: podUid("uid-c"), watchDirs: [] });
  assert.equal(kept.warnings().length, 1);
  assert.equal(watched.covers([]), true);
  assert.equal(watched.covers([podUid("uid-a")]), true);
  assert.equal(watched.covers([podUid("uid-a"), podUid("uid-b")]), false);
  assert.equal(watched.covers([podUid("uid-c")]), false);
});
