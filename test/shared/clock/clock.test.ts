// Node's own timers are replaced by the test runner's, so that weeks pass at once.
import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../../src/shared/clock/clock.js";

const DAY_MS = 86_400_000;

test("a wait of more than 24.8 days lasts as long as asked, not one millisecond", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let fired = 0;
  systemClock.after(60 * DAY_MS, () => fired++);
  t.mock.timers.tick(1000);
  assert.equal(fired, 0);
  for (let day = 0; day < 59; day++) t.mock.timers.tick(DAY_MS);
  assert.equal(fired, 0);
  // The test runner's timers count a new wait from the end of the tick it began in.
  for (let day = 0; day < 3; day++) t.mock.timers.tick(DAY_MS);
  assert.equal(fired, 1);
});

test("a long wait is cancelled in any of its stretches", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let fired = 0;
  const timer = systemClock.after(60 * DAY_MS, () => fired++);
  for (let day = 0; day < 30; day++) t.mock.timers.tick(DAY_MS);
  timer.cancel();
  for (let day = 0; day < 90; day++) t.mock.timers.tick(DAY_MS);
  assert.equal(fired, 0);
});

test("nanoseconds of the wall clock follow it when it is set", (t) => {
  const now = Date.now() + 7 * DAY_MS;
  t.mock.timers.enable({ apis: ["Date"], now });
  assert.equal(systemClock.nowNanos(), BigInt(now) * 1_000_000n);
});
