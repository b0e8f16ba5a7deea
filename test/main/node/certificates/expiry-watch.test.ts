// Conditions under which an expired client certificate ends the kubelet.

import assert from "node:assert/strict";
import { test } from "node:test";
import { watchExpiry } from "../../../../src/main/node/certificates/expiry-watch.js";
import { keptLog } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

function kit() {
  const clock = new SteppedClock();
  clock.step(10 * HOUR);
  const state = { notAfter: clock.now() + HOUR, answers: true, certificate: true };
  const reasons: string[] = [];
  const kept = keptLog();
  const end = watchExpiry({
    notAfter: () => (state.certificate ? state.notAfter : undefined),
    serverAnswers: () => state.answers,
    giveUp: (reason) => reasons.push(reason),
    clock,
    log: kept.log,
  });
  return { clock, state, reasons, end, kept };
}

test("five minutes after its end the kubelet starts over, once", () => {
  const { clock, reasons } = kit();
  clock.step(HOUR + 5 * MINUTE - 1);
  assert.deepEqual(reasons, []);
  clock.step(10_000);
  assert.equal(reasons.length, 1);
  assert.match(reasons.join(), /certificate has expired/);
  clock.step(HOUR);
  assert.equal(reasons.length, 1);
  assert.equal(clock.pending, 0);
});

test("the kubelet does not restart while the server is unreachable; it does at once when the server refuses the certificate", () => {
  const { clock, state, reasons, end, kept } = kit();
  state.answers = false;
  clock.step(2 * HOUR);
  assert.deepEqual(reasons, []);
  const said = kept.lines.length;
  assert.ok(said > 50 && said < 60, `${said} lines in 55 minutes`);
  state.answers = true;
  clock.step(10_000);
  assert.equal(reasons.length, 1);
  end();
});

test("the kubelet does not restart for a certificate that was replaced, or that never expires", () => {
  const { clock, state, reasons, end } = kit();
  clock.step(HOUR + 4 * MINUTE);
  state.notAfter += HOUR;
  clock.step(50 * MINUTE);
  state.certificate = false;
  clock.step(3 * HOUR);
  assert.deepEqual(reasons, []);
  end();
  assert.equal(clock.pending, 0);
});

test("a kubelet that starts with an expired one has five minutes, too", () => {
  const { clock, state, reasons, end } = kit();
  state.notAfter = 0;
  clock.step(5 * MINUTE - 1);
  assert.deepEqual(reasons, []);
  clock.step(10_000);
  assert.equal(reasons.length, 1);
  end();
});

test("a clock that is set forth past its end leaves five minutes to renew it; one set back again takes nothing", () => {
  const { clock, reasons, end } = kit();
  clock.jump(2 * HOUR);
  clock.step(4 * MINUTE);
  assert.deepEqual(reasons, []);
  clock.jump(-2 * HOUR);
  clock.step(30 * MINUTE);
  assert.deepEqual(reasons, []);
  clock.jump(2 * HOUR);
  clock.step(5 * MINUTE + 10_000);
  assert.equal(reasons.length, 1);
  end();
});
