// The limit that follows the idle processors, against runtimes in virtual time: one whose calls share processors, and
// one whose calls wait for a network plugin.
// @promise Pods: In a burst few PodSandboxes are created or stopped at once, as many as keep the processors busy; a
//   critical pod's comes first.
// @with test/shared/kubernetes/cri/concurrency.test.ts, test/main/containers/runtime/create-sandbox.test.ts

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { IdleLimit } from "../../../../src/shared/kubernetes/cri/idle-limit.js";

/** Calls that share `cpus` processors: `workMs` each on one of them, and `waitMs` that need none. */
interface Runtime {
  cpus: number;
  workMs: number;
  waitMs: number;
}

const STEP_MS = 5;
/** As often as IdleWatch looks. */
const LOOK_MS = 200;

/** Runs a burst of calls in steps of 5 ms; returns the end of each call, and the most that ran at once. */
function burst(limit: IdleLimit, calls: number, { cpus, workMs, waitMs }: Runtime): { ends: number[]; most: number } {
  const running: { begun: number; work: number }[] = [];
  const ends: number[] = [];
  let waiting = calls;
  let most = 0;
  let idleMs = 0;
  for (let now = 0; ends.length < calls; now += STEP_MS) {
    while (waiting > 0 && running.length < limit.current) {
      waiting--;
      running.push({ begun: now, work: workMs });
    }
    most = Math.max(most, running.length);
    const working = running.filter(({ work }) => work > 0);
    idleMs += Math.max(0, cpus - working.length) * STEP_MS;
    for (const call of working) call.work -= Math.min(1, cpus / working.length) * STEP_MS;
    for (const call of [...running]) {
      if (call.work > 0 || now - call.begun < waitMs) continue;
      running.splice(running.indexOf(call), 1);
      ends.push(now);
    }
    if (now % LOOK_MS !== 0) continue;
    if (waiting === 0) limit.reset();
    else if (now > 0) limit.observe(idleMs / LOOK_MS);
    idleMs = 0;
  }
  limit.reset();
  return { ends, most };
}

const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

test("calls that compete for processors run few at once: the first ones end early and the last one is not late", () => {
  const competing = { cpus: 2, workMs: 200, waitMs: 0 };
  const limit = new IdleLimit(2, 16);
  const all = burst(new IdleLimit(16, 16), 16, competing);
  // Also after many bursts, in which no call ever ran alone.
  for (let time = 0; time < 20; time++) {
    const { ends, most } = burst(limit, 16, competing);
    assert.ok(most <= 3, `${most} at once`);
    assert.ok(mean(ends) < 0.65 * mean(all.ends), `${mean(ends)} and ${mean(all.ends)} ms`);
    assert.ok(Math.max(...ends) <= Math.max(...all.ends) + 20);
  }
});

test("calls that wait for something else make the limit grow to its highest value", () => {
  const { most } = burst(new IdleLimit(2, 16), 120, { cpus: 2, workMs: 5, waitMs: 1000 });
  assert.equal(most, 16);
});

test("the limit grows by as many calls as processors are idle, and falls while none is", () => {
  const limit = new IdleLimit(2, 16);
  const seen = [3.9, 0.5, 0.4, 0.19, 0, 0, 0, 0, 0, 64].map((idle) => {
    limit.observe(idle);
    return limit.current;
  });
  assert.deepEqual(seen, [5, 6, 6, 5, 4, 3, 2, 2, 2, 16]);
  limit.reset();
  assert.equal(limit.current, 2);
});

test("for any processors the limit is a whole number between its bounds", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 0, max: 60 }),
      fc.array(fc.oneof(fc.double({ min: 0, max: 1e4, noNaN: true }), fc.constant("reset" as const))),
      (least, more, looks) => {
        const limit = new IdleLimit(least, least + more);
        for (const one of looks) {
          if (one === "reset") limit.reset();
          else limit.observe(one);
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
    assert.throws(() => new IdleLimit(least, most), RangeError);
  }
});
