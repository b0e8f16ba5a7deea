// Looks at the processors while calls wait: when they begin, what they do to the limit, and when they end.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { ProcessorTimes } from "../../../../src/shared/io/os/processor-times.js";
import { IdleLimit } from "../../../../src/shared/kubernetes/cri/idle-limit.js";
import { IdleWatch } from "../../../../src/shared/kubernetes/cri/idle-watch.js";
import { Limiter } from "../../../../src/shared/kubernetes/cri/limiter.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const LOOK_MS = 200;

function setUp(count = 2) {
  const clock = new SteppedClock();
  const limit = new IdleLimit(1, 4);
  const limiter = new Limiter(limit, clock);
  const times: ProcessorTimes = { busy: 0, all: 0, idle: 0 };
  let fails = false;
  let reads = 0;
  const readTimes = (): Promise<ProcessorTimes> => {
    reads++;
    return fails ? Promise.reject(new Error("no /proc/stat")) : Promise.resolve({ ...times });
  };
  const watch = new IdleWatch({ count, readTimes }, limit, limiter, clock);
  return {
    ...{ clock, limit, limiter, watch },
    reads: () => reads,
    setFailing: (failing: boolean) => (fails = failing),
    /** One period in which so many processors were idle. */
    look: async (idle: number): Promise<void> => {
      times.all += 20 * count;
      times.idle += 20 * idle;
      clock.step(LOOK_MS);
      for (let turn = 0; turn < 3; turn++) await setImmediate();
    },
  };
}

/** Calls that wait for a place; returns how many got one. */
function calls(limiter: Limiter, count: number): () => number {
  let got = 0;
  for (let call = 0; call < count; call++) void limiter.acquire().then(() => got++);
  return () => got;
}

test("waiting calls get a place when the look finds idle processors, and none while all are busy", async () => {
  const { limiter, watch, look } = setUp();
  const got = calls(limiter, 6);
  watch.start();
  await setImmediate();
  await look(0);
  assert.equal(got(), 1);
  await look(1);
  assert.equal(got(), 2);
  await look(2);
  assert.equal(got(), 4, "up to the bound");
});

test("time before the calls waited does not count as idle", async () => {
  const { limiter, watch, look } = setUp();
  await look(2);
  const got = calls(limiter, 2);
  watch.start();
  await setImmediate();
  assert.equal(got(), 1);
});

test("looks end with the last waiting call, and the next burst begins with few", async () => {
  const { clock, limit, limiter, watch, look, reads } = setUp();
  calls(limiter, 4);
  watch.start();
  watch.start();
  await setImmediate();
  assert.equal(reads(), 1, "one look at a time");
  await look(2);
  assert.equal(limit.current, 3);
  await look(2);
  assert.equal(limit.current, 1);
  assert.equal(clock.pending, 0);
});

test("without the machine's times the limit stays, and a later look counts again", async () => {
  const { limiter, limit, watch, look, setFailing } = setUp();
  calls(limiter, 9);
  setFailing(true);
  watch.start();
  await setImmediate();
  await look(2);
  setFailing(false);
  await look(2);
  assert.equal(limit.current, 1, "nothing to compare with yet");
  await look(2);
  assert.equal(limit.current, 3);
});

test("a watch that is stopped leaves no timer", async () => {
  const { clock, limiter, watch } = setUp();
  calls(limiter, 3);
  watch.start();
  await setImmediate();
  watch.stop();
  assert.equal(clock.pending, 0);
});
