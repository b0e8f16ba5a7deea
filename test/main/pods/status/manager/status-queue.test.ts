import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { StatusQueue } from "../../../../../src/main/pods/status/manager/status-queue.js";
import { podUid } from "../../../../../src/shared/kubernetes/identifiers.js";

const UIDS = ["a", "b", "c", "d"].map((name) => podUid(name));

/** Pods whose status was pushed, with the time from which it may be sent. */
type Model = Map<string, number>;

const step = fc.oneof(
  fc.record({ kind: fc.constant("urgent" as const), pod: fc.nat(3) }),
  fc.record({ kind: fc.constant("delay" as const), pod: fc.nat(3), ms: fc.integer({ min: 1, max: 50 }) }),
  fc.record({ kind: fc.constant("fail" as const), pod: fc.nat(3), ms: fc.integer({ min: 1, max: 50 }) }),
  fc.record({ kind: fc.constant("finish" as const), pod: fc.nat(3) }),
  fc.record({ kind: fc.constant("pass" as const), ms: fc.nat(40) }),
);

test("property: whatever may be sent is taken, and a delayed status has a wake-up no later than its time", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const queue = new StatusQueue();
      const due: Model = new Map();
      const busy = new Set<string>();
      let now = 0;
      for (const one of steps) {
        const uid = "pod" in one ? UIDS[one.pod]! : UIDS[0]!;
        if (one.kind === "pass") now += one.ms;
        if (one.kind === "urgent" && !due.has(uid)) {
          queue.pushUrgent(uid);
          due.set(uid, 0);
        }
        if (one.kind === "delay" && !due.has(uid)) {
          queue.delayUntil(uid, "soon", now + one.ms);
          due.set(uid, now + one.ms);
        }
        if (one.kind === "fail" && busy.has(uid)) {
          queue.delay(uid, now + one.ms);
          due.set(uid, now + one.ms);
        }
        if (one.kind === "finish" && busy.has(uid)) {
          queue.done(uid);
          due.delete(uid);
        }
        if ((one.kind === "finish" || one.kind === "fail") && busy.delete(uid)) queue.release(uid);
        for (let taken = queue.take(now); taken !== undefined; taken = queue.take(now)) {
          assert.ok(!busy.has(taken) && (due.get(taken) ?? Infinity) <= now, `${taken} may not be sent`);
          busy.add(taken);
        }
        const left = [...due].filter(([name]) => !busy.has(name)).map(([, time]) => time);
        assert.ok(
          left.every((time) => time > now),
          "a status that may be sent was left",
        );
        const wakeAt = queue.wakeAt(now);
        if (left.length > 0) assert.ok(wakeAt !== undefined && wakeAt <= Math.min(...left), "no wake-up in time");
        assert.ok(wakeAt === undefined || wakeAt > now, "a wake-up that is due already would repeat without end");
      }
    }),
    { numRuns: 500 },
  );
});
