// Node's own timers are replaced by the test runner's, so that weeks pass at once.

import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../../../src/shared/base/clock/clock.js";
import {
  boundedSeconds,
  deadlineIn,
  InvalidDurationError,
  LONGEST_SECONDS,
} from "../../../../src/shared/base/clock/durations.js";

const DAY_MS = 86_400_000;

test("a wait of more than 24.8 days lasts as long as requested, not one millisecond", (t) => {
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

test("a period of more than 24.8 days passes as often as requested, not each millisecond", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const fired: number[] = [];
  const count = (): number => fired.length;
  let day = 0;
  const timer = systemClock.every(30 * DAY_MS, () => fired.push(day));
  t.mock.timers.tick(1000);
  assert.equal(count(), 0);
  for (; day < 100; day++) t.mock.timers.tick(DAY_MS);
  assert.ok(count() >= 2 && count() <= 3, `periods of 30 days in 100 days: ended on ${fired.join(", ")}`);
  const before = count();
  timer.cancel();
  for (; day < 200; day++) t.mock.timers.tick(DAY_MS);
  assert.equal(count(), before);
});

test("a delay that is no number is refused, not due at once", () => {
  assert.throws(() => systemClock.after(Number.NaN, () => undefined), InvalidDurationError);
  assert.throws(() => systemClock.every(Number.NaN, () => undefined), InvalidDurationError);
});

test("a gRPC deadline is at most 100 years away and never from a value that is no duration", () => {
  const clock = { now: () => 1000 };
  assert.equal(deadlineIn(50, clock).getTime(), 1050);
  for (const ms of [4e14, Number.MAX_VALUE, Infinity]) {
    assert.equal(deadlineIn(ms, clock).getTime(), 1000 + LONGEST_SECONDS * 1000);
  }
  for (const ms of [Number.NaN, -1, -Infinity]) assert.throws(() => deadlineIn(ms, clock), InvalidDurationError);
});

test("a grace period is whole seconds between its least value and 100 years", () => {
  const rules = { least: 2, fallback: 30 };
  const cases = [
    [5, 5],
    [-7, 2],
    [2.5, 3],
    [400_000_000_000, LONGEST_SECONDS],
    [Infinity, LONGEST_SECONDS],
    [Number.NaN, 30],
  ] as const;
  for (const [given, expected] of cases) assert.equal(boundedSeconds(given, rules), expected, String(given));
});
