// V8's optimizing compiler is off until the load has lasted for a minute.

import assert from "node:assert/strict";
import { test } from "node:test";
import { startOptimizerPolicy } from "../../../src/main/kubelet/optimizer-policy.js";
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
