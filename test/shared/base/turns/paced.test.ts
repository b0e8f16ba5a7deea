// Calls with a pace.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { paced } from "../../../../src/shared/base/turns/paced.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

test("a call begins at once, and the next ones begin a gap apart", async () => {
  const clock = new SteppedClock(1000);
  const begun: number[] = [];
  const call = paced(20, clock, () => Promise.resolve(begun.push(clock.monotonic() - start)));
  const start = clock.monotonic();
  const calls = [call(), call(), call()];
  await setImmediate();
  assert.deepEqual(begun, [0]);
  clock.step(20);
  await setImmediate();
  clock.step(20);
  assert.deepEqual(
    [await Promise.all(calls), begun],
    [
      [1, 2, 3],
      [0, 20, 40],
    ],
  );
  clock.step(100);
  await call();
  assert.deepEqual(begun.at(-1), 140, "a pause is no debt");
});

test("a call that fails rejects, and the next one has its turn", async () => {
  const clock = new SteppedClock(1000);
  let count = 0;
  const call = paced(20, clock, () => (++count === 1 ? Promise.reject(new Error("stuck")) : Promise.resolve(count)));
  await assert.rejects(call(), /stuck/);
  const second = call();
  clock.step(20);
  assert.equal(await second, 2);
});
