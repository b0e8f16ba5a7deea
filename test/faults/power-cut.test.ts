// A power cut at any write of the disk while resources are allocated. A pod's allocation is on the disk, and every
// file is complete. A kubelet that starts on that disk allocates none of it to another pod.
// @headline Resources of the node | No CPU, memory, device or user id is allocated twice. | a power cut at any write
// @promise Resources of the node: After a power cut at any write of the disk, no allocated CPU, memory, device or user
//   id is lost or allocated twice. No accepted resize, pull record or CSI volume is lost.
// @with test/faults/power-cut-kubelet.test.ts

import assert from "node:assert/strict";
import { mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { run } from "../../tools/standalone/exec.js";
import { RecordedDisk } from "../support/recorded-disk/recorded-disk.js";
import { STORES, type OpensStore } from "../support/recorded-disk/state-stores.js";
import type { LogEntry, Survival } from "../support/recorded-disk/write-log.js";
import { chosenSeed, randomFrom } from "../support/seeded-random.js";
import { keptLog } from "../support/sources-kit.js";

interface Load {
  /** All stores at the same time, or one after the other. */
  together: boolean;
  /** Number of allocations and releases, for each store. */
  steps: number;
  /** Probability that a step takes back. */
  takeBack: number;
}

const MOST_AT_ONCE = 6;
const RANDOM_CUTS = 24;
const SURVIVALS: readonly Survival[] = ["none", "some", "all"];

/** Positions are numbers of log entries. */
interface Promised {
  store: string;
  uid: string;
  units: readonly string[];
  /** Time at which the pod got the grant. */
  from: number;
  /** Time at which the release started. */
  until: number;
}

interface Cut {
  position: number;
  survival: Survival;
}

const rootOf = (mountPoint: string): string => join(mountPoint, "node");

/** Gives and takes back at random. */
async function handOut(
  disk: RecordedDisk,
  { together, steps, takeBack }: Load,
  random: () => number,
): Promise<{ promises: Promised[]; begun: number }> {
  const root = rootOf(disk.root);
  await mkdir(root);
  await run("sync", ["-f", root]);
  const begun = await disk.position();
  const promises: Promised[] = [];
  const use = async ([name, opens]: [string, OpensStore]): Promise<void> => {
    const store = await opens(root, keptLog().log, []);
    const held: Promised[] = [];
    for (let step = 0; step < steps; step++) {
      const back = held.length >= MOST_AT_ONCE || random() < takeBack ? held.shift() : undefined;
      if (back !== undefined) {
        back.until = await disk.position();
        await store.takeBack(back.uid);
        continue;
      }
      const uid = `pod-${step}`;
      const units = await store.give(uid);
      assert.ok(units.length > 0, `${name} gives something`);
      const promised = { store: name, uid, units, from: await disk.position(), until: Infinity };
      held.push(promised);
      promises.push(promised);
    }
    await store.stop();
  };
  if (together) await Promise.all(Object.entries(STORES).map(use));
  else for (const store of Object.entries(STORES)) await use(store);
  return { promises, begun };
}

/** The errors after the cut. */
async function problemsAfter(root: string, promises: readonly Promised[], position: number): Promise<string[]> {
  const problems: string[] = [];
  for (const [name, opens] of Object.entries(STORES)) {
    const { log, lines } = keptLog();
    const own = promises.filter(({ store }) => store === name);
    const valid = own.filter(({ from, until }) => from <= position && position < until);
    if (valid.length === 0) continue;
    try {
      // Every pod that may ever have been there is known, so that nothing is dropped as a gone pod's.
      const store = await opens(root, log, [...new Set(own.map(({ uid }) => uid))]);
      for (const { uid, units } of valid) {
        const found = await store.held(uid);
        if (found.join() !== units.join()) {
          problems.push(`${name}: ${uid} was promised ${units.join()} and has ${found.join() || "nothing"}`);
        }
      }
      const given = await store.give("newcomer");
      for (const { uid, units } of valid) {
        const twice = units.filter((unit) => given.includes(unit));
        if (twice.length > 0) problems.push(`${name}: ${twice.join()} of ${uid} is given to another pod`);
      }
      await store.stop();
    } catch (error) {
      problems.push(`${name}: ${String(error)}`);
    }
    problems.push(...lines.filter(({ level }) => level >= 40).map(({ msg }) => `${name}: ${msg}`));
  }
  return problems;
}

/** The cuts that find something, with what they find. */
async function cutPower(
  t: TestContext,
  load: Load,
  cutsOf: (log: readonly LogEntry[], promises: readonly Promised[], begun: number, random: () => number) => Cut[],
): Promise<string[]> {
  const seed = chosenSeed();
  const random = randomFrom(seed);
  await using disk = await RecordedDisk.start();
  const { promises, begun } = await handOut(disk, load, random);
  const log = await disk.log();
  const cuts = cutsOf(log, promises, begun, random);
  t.diagnostic(`seed ${seed}: ${promises.length} promises, ${log.length} writes and flushes, ${cuts.length} cuts`);
  const found: string[] = [];
  for (const { position, survival } of cuts) {
    const problems = await disk.afterCut(log, position, survival, random, async (at) =>
      problemsAfter(rootOf(at), promises, position),
    );
    found.push(...problems.map((problem) => `cut after ${position} of ${log.length} (${survival}): ${problem}`));
  }
  return found;
}

/** The disk's caches are lost at the worst moment: as soon as the pod has heard. */
const atPromises = (promises: readonly Promised[]): Cut[] =>
  promises.map(({ from }) => ({ position: from, survival: "none" }));

test("a resource allocated to a pod is allocated to no other after a power cut at any write", async (t) => {
  const found = await cutPower(t, { together: true, steps: 12, takeBack: 0.3 }, (log, promises, begun, random) => [
    ...atPromises(promises).filter((_, index) => index % 3 === 0),
    ...Array.from({ length: RANDOM_CUTS }, (_, index) => ({
      position: begun + Math.floor(random() * (log.length - begun + 1)),
      survival: SURVIVALS[index % SURVIVALS.length] ?? "none",
    })),
  ]);
  assert.deepEqual(found, []);
});

for (const skipped of ["file", "folder"] as const) {
  test(`the same cuts find a promise that is lost when no ${skipped} is synced`, async (t) => {
    const handle = await open("/dev/null");
    const prototype = Object.getPrototypeOf(handle) as { sync: () => Promise<void> };
    await handle.close();
    const { sync } = prototype;
    t.mock.method(prototype, "sync", async function (this: typeof handle) {
      const isFolder = (await this.stat()).isDirectory();
      if (isFolder !== (skipped === "folder")) await sync.call(this);
    });
    const load = { together: false, steps: 2, takeBack: 0 };
    const found = await cutPower(t, load, (_log, promises) => atPromises(promises));
    const unnoticed = Object.keys(STORES).filter((name) => !found.some((problem) => problem.includes(`: ${name}: `)));
    assert.deepEqual(unnoticed, []);
  });
}
