// The limit that follows the service time of calls, against runtimes in virtual time: one whose calls share processors,
// and one whose calls wait for a network plugin.
// @promise Pods: In a burst few PodSandboxes are created or stopped at once, as many as the processors serve; a
//   critical pod's comes first.
// @with test/shared/kubernetes/cri/concurrency.test.ts, test/main/containers/runtime/create-sandbox.test.ts

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ServiceLimit } from "../../../../src/shared/kubernetes/cri/service-limit.js";

/** Calls that share `cpus` processors: `workMs` each on one of them, and `waitMs` that need none. */
interface Runtime {
  cpus: number;
  workMs: number;
  waitMs: number;
}

/** Runs a burst of calls in steps of 5 ms; returns the end of each call, and the most that ran at once. */
function burst(
  limit: ServiceLimit,
  calls: number,
  { cpus, workMs, waitMs }: Runtime,
): { ends: number[]; most: number } {
  const running: { begun: number; work: number }[] = [];
  const ends: number[] = [];
  let waiting = calls;
  let most = 0;
  for (let now = 0; ends.length < calls; now += 5) {
    while (waiting > 0 && running.length < limit.current) {
      waiting--;
      running.push({ begun: now, work: workMs });
    }
    most = Math.max(most, running.length);
    const share = Math.min(1, cpus / running.length) * 5;
    for (const call of [...running]) {
      call.work -= share;
      if (call.work > 0 || now - call.begun < waitMs) continue;
      running.splice(running.indexOf(call), 1);
      ends.push(now);
      limit.ended(now - call.begun, waiting > 0);
    }
  }
  return { ends, most };
}

const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

test("calls that compete for processors: few at once, so that the first ones end early and the last one is not late", () => {
  const competing = { cpus: 2, workMs: 200, waitMs: 0 };
  const limit = new ServiceLimit(4, 16);
  for (let single = 0; single < 3; single++) burst(limit, 1, competing);
  const { ends, most } = burst(limit, 16, competing);
  const all = burst(new ServiceLimit(16, 16), 16, competing);
  assert.ok(most <= 5, `${most} at once`);
  assert.ok(mean(ends) < 0.7 * mean(all.ends), `${mean(ends)} and ${mean(all.ends)} ms`);
  assert.ok(Math.max(...ends) <= Math.max(...all.ends) + 20);
});

test("calls that wait for something else: the limit grows to its highest value", () => {
  const limit = new ServiceLimit(4, 16);
  const { most } = burst(limit, 120, { cpus: 2, workMs: 5, waitMs: 1000 });
  assert.equal(most, 16);
});

test("calls that compete again: the limit falls", () => {
  const limit = new ServiceLimit(4, 16);
  burst(limit, 120, { cpus: 2, workMs: 5, waitMs: 300 });
  const before = limit.current;
  burst(limit, 120, { cpus: 2, workMs: 400, waitMs: 0 });
  const after = limit.current;
  assert.ok(before === 16 && after < 8, `${before}, then ${after} at once`);
});

test("calls that do not end: each that is overdue makes room for one more, up to the highest value", () => {
  const limit = new ServiceLimit(4, 7);
  const seen = Array.from({ length: 5 }, () => {
    limit.overdue();
    return limit.current;
  });
  assert.deepEqual(seen, [5, 6, 7, 7, 7]);
});

test("a limit that is not reached does not grow", () => {
  const limit = new ServiceLimit(4, 16);
  for (let call = 0; call < 100; call++) limit.ended(100, false);
  assert.equal(limit.current, 4);
});

test("for any durations the limit is a whole number between its bounds", () => {
  const call = fc.oneof(
    fc.tuple(fc.double({ min: 0, max: 1e9, noNaN: true }), fc.boolean()),
    fc.constant("overdue" as const),
  );
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 0, max: 60 }),
      fc.array(call),
      (least, more, calls) => {
        const limit = new ServiceLimit(least, least + more);
        for (const one of calls) {
          if (one === "overdue") limit.overdue();
          else limit.ended(...one);
          assert.ok(Number.isInteger(limit.current) && limit.current >= least && limit.current <= least + more);
        }
      },
    ),
  );
});

test("bounds that contradict each other are refused", () => {
  for (const [least, most] of [
    [0, 4],
    [5, 4],
    [1.5, 4],
    [1, NaN],
  ] as const) {
    assert.throws(() => new ServiceLimit(least, most), RangeError);
  }
});
