// The timer wheel under virtual time, against the plain rule: every booked item is called once, when it is due.
// @promise Probes and hooks: Probes never drift and never overlap. A late probe is late, not failed; delays of the
//   thread do not count against a container.
// @with test/shared/node/probes/prober.test.ts, test/shared/node/probes/rules.test.ts

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { monotonicTime } from "../../../../src/shared/base/clock/moments.js";
import { TimerWheel, WAKE_MS } from "../../../../src/shared/node/probes/timer-wheel.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

/** The wake-up in which an item is called. */
const wakeFor = (due: number): number => Math.ceil(due / WAKE_MS) * WAKE_MS;

test("an item is called once, in the wake-up after its time, in the order of times, however far ahead", () => {
  const clock = new SteppedClock();
  const calls: [string, number][] = [];
  const wheel = new TimerWheel<string>(clock, (item, due) => {
    assert.equal(clock.monotonic(), wakeFor(due));
    calls.push([item, due]);
  });
  for (const [item, due] of Object.entries({ far: 20_000, near: 5, next: 6, turn: 4096, later: 100_000 })) {
    wheel.set(item, monotonicTime(due));
  }
  clock.step(200_000);
  assert.deepEqual(calls, [
    ["near", 5],
    ["next", 6],
    ["turn", 4096],
    ["far", 20_000],
    ["later", 100_000],
  ]);
  assert.equal(wheel.size, 0);
  assert.equal(clock.pending, 0);
});

test("items due close together share one wake-up", () => {
  const clock = new SteppedClock();
  const calls: number[] = [];
  const wheel = new TimerWheel<number>(clock, (_, due) => calls.push(due));
  for (const due of [WAKE_MS + 1, WAKE_MS + 2, 2 * WAKE_MS]) wheel.set(due, monotonicTime(due));
  assert.equal(clock.pending, 1);
  clock.step(WAKE_MS + 2);
  assert.deepEqual(calls, []);
  clock.step(WAKE_MS - 2);
  assert.deepEqual(calls, [WAKE_MS + 1, WAKE_MS + 2, 2 * WAKE_MS]);
  assert.equal(clock.pending, 0);
});

test("a deleted or rescheduled item is not called at its old time; an empty wheel has no timer", () => {
  const clock = new SteppedClock();
  const calls: [string, number][] = [];
  const wheel = new TimerWheel<string>(clock, (item) => calls.push([item, clock.monotonic()]));
  wheel.set("moved", monotonicTime(10));
  wheel.set("moved", monotonicTime(30));
  wheel.set("gone", monotonicTime(20));
  wheel.delete("gone");
  clock.step(100);
  assert.deepEqual(calls, [["moved", wakeFor(30)]]);
  wheel.set("gone", monotonicTime(1000));
  wheel.delete("gone");
  assert.equal(clock.pending, 0);
});

test("property: for any entries added, moved and deleted, and any jumps of time, exactly the due entries are called", () => {
  const command = fc.oneof(
    fc.record({ do: fc.constant("set" as const), item: fc.nat(20), inMs: fc.integer({ min: -50, max: 30_000 }) }),
    fc.record({ do: fc.constant("delete" as const), item: fc.nat(20) }),
    fc.record({ do: fc.constant("step" as const), ms: fc.integer({ min: 1, max: 9000 }) }),
    fc.record({ do: fc.constant("freeze" as const), ms: fc.integer({ min: 1, max: 9000 }) }),
  );
  fc.assert(
    fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
      const clock = new SteppedClock();
      const model = new Map<number, number>();
      const wheel: TimerWheel<number> = new TimerWheel<number>(clock, (item, due) => {
        assert.equal(model.get(item), due, `item ${item} is called for the time it is booked for`);
        assert.ok(clock.monotonic() >= due, "never before its time");
        model.delete(item);
      });
      for (const step of commands) {
        if (step.do === "set") {
          const due = clock.monotonic() + step.inMs;
          wheel.set(step.item, monotonicTime(due));
          model.set(step.item, due);
        } else if (step.do === "delete") {
          wheel.delete(step.item);
          model.delete(step.item);
        } else clock[step.do](step.ms);
        if (step.do === "step") {
          for (const due of model.values()) assert.ok(due > clock.monotonic() - WAKE_MS, "nothing that is due is left");
        }
        assert.equal(wheel.size, model.size);
      }
      wheel.clear();
      assert.equal(clock.pending, 0);
    }),
  );
});

test("property: items that book themselves again never drift", () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ first: fc.nat(2000), period: fc.integer({ min: 1, max: 5000 }) }), {
        minLength: 1,
        maxLength: 20,
      }),
      (schedules) => {
        const clock = new SteppedClock();
        const counts = schedules.map(() => 0);
        const wheel = new TimerWheel<number>(clock, (index, due) => {
          const { first, period } = schedules[index]!;
          assert.equal(due, first + counts[index]! * period);
          assert.equal(clock.monotonic(), wakeFor(due));
          counts[index]!++;
          wheel.set(index, monotonicTime(due + period));
        });
        schedules.forEach(({ first }, index) => wheel.set(index, monotonicTime(first)));
        clock.step(20_000);
        schedules.forEach(({ first, period }, index) => {
          assert.equal(counts[index], Math.floor((20_000 - first) / period) + 1);
        });
      },
    ),
    { numRuns: 30 },
  );
});
