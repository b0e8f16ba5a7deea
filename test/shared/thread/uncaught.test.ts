// Uncaught errors that a thread survives, and their log lines.

import assert from "node:assert/strict";
import { test } from "node:test";
import { UncaughtErrors } from "../../../src/shared/thread/uncaught.js";
import { SteppedClock } from "../../support/stepped-clock.js";

const MAX_PER_MINUTE = 20;

function build() {
  const clock = new SteppedClock();
  const seen = {
    logged: [] as string[],
    fields: [] as Record<string, unknown>[],
    counted: [] as string[],
    ended: [] as unknown[],
  };
  const errors = new UncaughtErrors({
    clock,
    log: {
      error: (fields: object, message?: string) => {
        seen.fields.push({ ...fields });
        seen.logged.push(message ?? "");
      },
    },
    onError: (origin) => seen.counted.push(origin),
    end: (error) => seen.ended.push(error),
  });
  return { clock, errors, ...seen };
}

test("an error is outlived, counted each time, and logged once a minute", () => {
  const { clock, errors, fields, logged, counted, ended } = build();
  const error = new TypeError("a library's");
  errors.caught(error, "exception");
  errors.caught(error, "rejection");
  assert.deepEqual(counted, ["exception", "rejection"]);
  assert.equal(logged.length, 1);
  assert.match(logged[0] ?? "", /TypeError: a library's/);
  assert.equal(fields[0]?.["stack"], error.stack);
  clock.step(60_000);
  errors.caught(error, "exception");
  assert.equal(logged.length, 2);
  assert.deepEqual(ended, []);
});

test("more errors than a minute may bring end the thread; the same number in a longer time does not", () => {
  const slow = build();
  for (let count = 0; count < 5 * MAX_PER_MINUTE; count++) {
    slow.errors.caught(new Error("slow"), "exception");
    slow.clock.step(60_000 / MAX_PER_MINUTE);
  }
  assert.deepEqual(slow.ended, []);
  const fast = build();
  for (let count = 0; count < MAX_PER_MINUTE; count++) fast.errors.caught(new Error("fast"), "exception");
  assert.deepEqual(fast.ended, []);
  fast.errors.caught("the last", "rejection");
  assert.deepEqual(fast.ended, ["the last"]);
});
