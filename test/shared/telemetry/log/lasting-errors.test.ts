import assert from "node:assert/strict";
import { test } from "node:test";
import { LastingErrors } from "../../../../src/shared/telemetry/log/lasting-errors.js";
import { keptLog } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

function make(remindMs?: number) {
  const { log, lines } = keptLog();
  const clock = new SteppedClock();
  const errors = new LastingErrors({ clock, log, level: "error", remindMs });
  return { texts: () => lines.map(({ msg }) => msg), clock, errors };
}

test("An unchanged error is logged once until its reminder is due", () => {
  const { texts, clock, errors } = make();
  errors.report("lease", "cannot renew");
  clock.step(59_999);
  errors.report("lease", "cannot renew");
  assert.deepEqual(texts(), ["cannot renew"]);
  clock.step(1);
  errors.report("lease", "cannot renew");
  assert.deepEqual(texts(), ["cannot renew", "cannot renew"]);
});

test("An error whose text changes is logged again at once", () => {
  const { texts, errors } = make(Infinity);
  errors.report("lease", "cannot renew: timeout");
  errors.report("lease", "cannot renew: refused");
  assert.deepEqual(texts(), ["cannot renew: timeout", "cannot renew: refused"]);
});

test("Errors of two keys begin and end separately, and each end is logged once", () => {
  const { texts, errors } = make(Infinity);
  errors.report("disk /a", "cannot read /a");
  errors.report("disk /b", "cannot read /b");
  errors.resolved("disk /a", "/a works again");
  errors.resolved("disk /a", "/a works again");
  errors.report("disk /b", "cannot read /b");
  assert.deepEqual(texts(), ["cannot read /a", "cannot read /b", "/a works again"]);
});

test("An action that never failed is not reported as resolved", () => {
  const { texts, errors } = make(Infinity);
  errors.resolved("disk /a", "/a works again");
  assert.deepEqual(texts(), []);
});
