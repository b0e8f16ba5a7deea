// A moment far away, beyond what a timer of Node can wait for.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Alarm } from "../../../../src/main/pods/sync/alarm.js";
import type { Clock } from "../../../../src/shared/base/clock/clock.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

/** Longest delay of setTimeout; a longer one fires at once. */
const LONGEST = 2 ** 31 - 1;

test("no wait is longer than a timer can be, and the alarm rings at its moment, once", () => {
  const clock = new SteppedClock();
  const waits: number[] = [];
  const spied = {
    now: () => clock.now(),
    after: (ms: number, fn: () => void) => {
      waits.push(ms);
      return clock.after(ms, fn);
    },
  } as Clock;
  let rings = 0;
  const alarm = new Alarm(spied, () => rings++);
  const at = 10_000_000_000;
  alarm.set(at);
  clock.step(at - 1);
  assert.equal(rings, 0);
  clock.step(1);
  assert.equal(rings, 1);
  assert.ok(Math.max(...waits) < LONGEST);
  assert.equal(clock.pending, 0);
});

test("a past moment rings at once; another moment replaces the one before; cancel leaves nothing", () => {
  const clock = new SteppedClock();
  const rings: number[] = [];
  const alarm = new Alarm(clock, () => rings.push(clock.now()));
  clock.step(100);
  alarm.set(50);
  clock.step(0);
  assert.deepEqual(rings, [100]);
  alarm.set(500);
  alarm.set(300);
  clock.step(1000);
  assert.deepEqual(rings, [100, 300]);
  alarm.set(5000);
  alarm.cancel();
  assert.equal(clock.pending, 0);
});
