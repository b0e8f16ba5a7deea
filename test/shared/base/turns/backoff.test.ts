// Back-off: growth, limit, spread and reset.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Backoff, backoffMs, type BackoffOptions } from "../../../../src/shared/base/turns/backoff.js";

const waits = (options: BackoffOptions, count: number): number[] => {
  const backoff = new Backoff(options);
  return Array.from({ length: count }, () => backoff.next());
};

test("each wait is twice the one before, up to the limit", () => {
  assert.deepEqual(waits({ initialMs: 100, maxMs: 500 }, 5), [100, 200, 400, 500, 500]);
});

test("another factor, without a limit", () => {
  assert.deepEqual(waits({ initialMs: 10, factor: 5 }, 3), [10, 50, 250]);
});

test("the wait stays finite after any number of failures", () => {
  assert.equal(backoffMs({ initialMs: 1000, maxMs: 30_000 }, 1e9), 30_000);
  assert.ok(Number.isFinite(backoffMs({ initialMs: 1000 }, 1e9)));
});

for (const [random, share] of [
  [0, 1],
  [0.5, 0.75],
  [1, 0.5],
] as const) {
  test(`a spread from 1 to 0.5 with random ${random} waits ${share} of the length`, () => {
    assert.equal(backoffMs({ initialMs: 200, spread: [1, 0.5], random: () => random }, 2), 400 * share);
  });
}

test("after a reset the delays begin again", () => {
  const backoff = new Backoff({ initialMs: 100 });
  backoff.next();
  backoff.next();
  assert.equal(backoff.failures, 2);
  backoff.reset();
  assert.deepEqual([backoff.failures, backoff.next()], [0, 100]);
});
