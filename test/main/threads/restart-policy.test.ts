// Back-off, jitter, cap and forgiveness, as a table.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { RestartPolicy } from "../../../src/main/threads/restart-policy.js";

const options = { baseMs: 100, maxMs: 1000, jitter: 0, healthyAfterMs: 60_000, maxRestarts: 6 };

describe("restart policy", () => {
  test("doubles up to the maximum, then gives up", () => {
    const policy = new RestartPolicy(options);
    const delays = Array.from({ length: 6 }, () => policy.exited(0));
    assert.deepEqual(
      delays,
      [100, 200, 400, 800, 1000, 1000].map((delayMs) => ({ restart: true, delayMs })),
    );
    assert.deepEqual(policy.exited(59_999), { restart: false, attempts: 7 });
  });

  test("without a cap it never gives up, and the delay stays finite", () => {
    const policy = new RestartPolicy({ ...options, maxRestarts: Infinity });
    for (let exits = 0; exits < 2000; exits++) assert.equal(policy.exited(0).restart, true);
    assert.deepEqual(policy.exited(0), { restart: true, delayMs: 1000 });
  });

  test("exits for a deadline double the delay and never end the restarts", () => {
    const policy = new RestartPolicy(options);
    const delays = Array.from({ length: 50 }, () => policy.exited(0, "late"));
    assert.deepEqual(delays.slice(0, 2), [
      { restart: true, delayMs: 100 },
      { restart: true, delayMs: 200 },
    ]);
    assert.ok(delays.every(({ restart }) => restart));
    for (let failures = 0; failures < 6; failures++) assert.equal(policy.exited(0).restart, true);
    assert.deepEqual(policy.exited(0), { restart: false, attempts: 7 });
  });

  test("a healthy run wipes the slate", () => {
    const policy = new RestartPolicy(options);
    for (let i = 0; i < 6; i++) policy.exited(0);
    assert.deepEqual(policy.exited(60_000), { restart: true, delayMs: 100 });
  });

  for (const [random, delayMs] of [
    [0, 100],
    [0.5, 75],
    [1, 50],
  ] as const) {
    test(`jitter 0.5 with random ${random} gives ${delayMs} ms`, () => {
      const policy = new RestartPolicy({ ...options, jitter: 0.5 }, () => random);
      assert.deepEqual(policy.exited(0), { restart: true, delayMs });
    });
  }
});
