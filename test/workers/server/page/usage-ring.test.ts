// The ring of samples: bounded, in order, and honest about what could not be read.

import assert from "node:assert/strict";
import { statfs } from "node:fs/promises";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { SAMPLE_MS, SAMPLES, type UsageSample } from "../../../../src/shared/contracts/status-page.js";
import { UsageRing } from "../../../../src/workers/server/page/usage-ring.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

/** A round takes a few turns of the event loop. */
async function turn(): Promise<void> {
  for (let turns = 0; turns < 3; turns++) await setImmediate();
}

function rig(rootDir = "/") {
  const clock = new SteppedClock();
  let jiffies = 0;
  const files = (path: string): string | undefined => {
    if (path === "/proc/stat") return `cpu  ${jiffies} 0 0 ${1000 + jiffies} 0 0 0 0 0 0\ncpu0 1 2 3 4\n`;
    if (path === "/proc/meminfo") return "MemTotal:       1000 kB\nMemAvailable:    400 kB\n";
    return path === "/proc/loadavg" ? "0.20 0.18 0.12 1/80 11206\n" : undefined;
  };
  const ring = new UsageRing({ read: files, residentBytes: () => 7, disk: () => statfs(rootDir), clock });
  const sample = async (count: number): Promise<UsageSample[]> => {
    await turn();
    for (let taken = 0; taken < count; taken++) {
      jiffies += 100;
      clock.step(SAMPLE_MS);
      await turn();
    }
    return [...ring.entries().values()].map((text) => JSON.parse(text) as UsageSample);
  };
  return { clock, ring, sample };
}

test("a sample has CPUs, memory and processes; the first has no CPUs, as there is nothing to compare with", async () => {
  const { ring, sample } = rig();
  ring.start();
  const [first, second] = await sample(1);
  assert.equal(first?.cpus, undefined);
  assert.equal(first?.memory, 600 * 1024);
  assert.equal(first.processes, 80);
  assert.equal(first.kubelet, 7);
  assert.ok(second?.cpus !== undefined && second.cpus > 0);
  await ring.stop();
});

test("it keeps one hour, drops the oldest sample first, and leaves no timer after the stop", async () => {
  const { clock, ring, sample } = rig();
  ring.start();
  const all = await sample(SAMPLES + 50);
  assert.equal(all.length, SAMPLES);
  const times = all.map(({ at }) => at);
  assert.deepEqual(
    times,
    times.toSorted((a, b) => a - b),
  );
  assert.equal(times.at(-1)! - times[0]!, (SAMPLES - 1) * SAMPLE_MS);
  await ring.stop();
  assert.equal(clock.pending, 0);
});

test("a file system that cannot be read has no figure", async () => {
  const { ring, sample } = rig("/does/not/exist");
  ring.start();
  const all = await sample(3);
  assert.ok(all.every(({ disk }) => disk === undefined));
  await ring.stop();
});
