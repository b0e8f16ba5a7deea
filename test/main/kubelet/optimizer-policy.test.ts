// V8's optimizing compiler is off until the load has lasted for a minute, or a large object comes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { startOptimizerPolicy } from "../../../src/main/kubelet/optimizer-policy.js";
import { LARGE_WORK_BYTES, noteWork } from "../../../src/shared/base/turns/large-work.js";
import { ObjectBlocks } from "../../../src/shared/kubernetes/api/client/decode/oversized.js";
import { keptLog } from "../../support/sources-kit.js";
import { SteppedClock } from "../../support/stepped-clock.js";

test("a minute of load switches it on, a minute of rest off, and a pause begins the minute anew", () => {
  const clock = new SteppedClock();
  const set: boolean[] = [];
  let used = 0;
  const policy = startOptimizerPolicy({
    setBusy: (busy) => set.push(busy),
    cpuMs: () => used,
    clock,
    log: keptLog().log,
  });
  const run = (samples: number, share: number): void => {
    for (let i = 0; i < samples; i++) {
      used += 5000 * share;
      clock.step(5000);
    }
  };
  run(11, 0.6);
  run(1, 0.4);
  run(11, 0.6);
  assert.deepEqual(set, []);
  run(1, 0.5);
  assert.deepEqual(set, [true]);
  run(20, 1.5);
  run(11, 0.1);
  run(1, 0.9);
  assert.deepEqual(set, [true]);
  run(12, 0.1);
  assert.deepEqual(set, [true, false]);
  policy.stop();
  assert.equal(clock.pending, 0);
});

test("a large object switches it on before it is read, for a minute after the last one", () => {
  const clock = new SteppedClock();
  const set: boolean[] = [];
  const policy = startOptimizerPolicy({ setBusy: (busy) => set.push(busy), cpuMs: () => 0, clock, log: keptLog().log });
  const blocks = new ObjectBlocks();
  blocks.push(Buffer.alloc(LARGE_WORK_BYTES - 2));
  blocks.take(Buffer.alloc(1));
  assert.deepEqual(set, []);
  blocks.push(Buffer.alloc(LARGE_WORK_BYTES - 2));
  blocks.take(Buffer.alloc(2));
  assert.deepEqual(set, [true]);
  clock.step(55_000);
  blocks.take(Buffer.alloc(LARGE_WORK_BYTES));
  clock.step(55_000);
  assert.deepEqual(set, [true]);
  clock.step(5000);
  assert.deepEqual(set, [true, false]);
  policy.stop();
  noteWork(LARGE_WORK_BYTES);
  assert.deepEqual(set, [true, false]);
});
