// The simulation itself: a seed has one trace, kept seeds break no promise, and a fault in the agent is found.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, describe, test } from "node:test";
import { CodeTable } from "./coverage/code-table.js";
import { bundleSimulation, removeBundle } from "./driver/bundle.js";
import type { RunOrder } from "./driver/order.js";
import { runSeed } from "./driver/run-seed.js";
import { shrink } from "./driver/shrink.js";
import { MUTANTS } from "./mutants/all.js";
import { FAULT_KINDS } from "./plan/events.js";
import { KEPT_SEEDS } from "./seeds/kept-seeds.js";

let bundle = "";
before(async () => {
  bundle = await bundleSimulation();
});
after(async () => {
  await removeBundle(bundle);
});

test("two processes give the same trace of a seed, byte for byte", async () => {
  const order: RunOrder = { seed: 7, hours: 0.1, pods: 6, faults: FAULT_KINDS };
  const lines: [string[], string[]] = [[], []];
  const [one, other] = await Promise.all(
    lines.map((kept) => runSeed(bundle, { ...order, prints: true }, (line) => kept.push(line))),
  );
  assert.deepEqual(lines[1], lines[0]);
  assert.ok(lines[0].length > 100);
  assert.equal(other?.hash, one?.hash);
});

test("a run that counts its code has the same trace, and reaches a third of the agent's lines in a minute", async () => {
  const order = { seed: 1, hours: 0.02, pods: 3, faults: [] };
  const [plain, counted] = await Promise.all([false, true].map((code) => runSeed(bundle, { ...order, code })));
  assert.equal(counted?.hash, plain?.hash);
  const table = new CodeTable(await readFile(bundle, "utf8"));
  table.add(counted?.code ?? []);
  const [, share] = /^code: (\d+) %/.exec(table.lines()[0] ?? "") ?? [];
  assert.ok(Number(share) >= 20 && Number(share) < 100, `${share} %`);
});

test("two seeds give two traces", async () => {
  const order = { hours: 0.02, pods: 3, faults: [] };
  const [one, other] = await Promise.all([1, 2].map((seed) => runSeed(bundle, { ...order, seed })));
  assert.notEqual(other?.hash, one?.hash);
});

describe("kept seeds", () => {
  for (const { why, ...order } of KEPT_SEEDS) {
    test(`seed ${order.seed} breaks no promise: ${why}`, async () => {
      const { violation } = await runSeed(bundle, order);
      assert.equal(violation, undefined);
    });
  }
});

test("a fault that is put into the agent is found", async () => {
  const mutant = MUTANTS.find(({ name }) => name === "grace period is half as long");
  assert.ok(mutant !== undefined);
  const changed = await bundleSimulation(mutant);
  try {
    const { violation } = await runSeed(changed, { seed: 2, hours: 0.3, pods: 8, faults: [] });
    assert.equal(violation?.invariant, "the grace period is kept");
  } finally {
    await removeBundle(changed);
  }
});

test("shrinking leaves the events that matter", async () => {
  const breaks = (events: readonly number[]): Promise<boolean> =>
    Promise.resolve(events.includes(3) && events.includes(17));
  const all = Array.from({ length: 20 }, (_, index) => index + 1);
  assert.deepEqual(await shrink(all, breaks, { runs: 200 }), [3, 17]);
});

test("shrinking ends when its time is over", async () => {
  const breaks = (): Promise<boolean> => Promise.reject(new Error("no run begins"));
  assert.deepEqual(await shrink([1, 2, 3], breaks, { runs: 200, until: performance.now() }), [1, 2, 3]);
});
