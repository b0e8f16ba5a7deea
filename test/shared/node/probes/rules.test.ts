// The prober's small rules: when runs make a verdict, and how long a run may take.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ProbeOutcome, ProbeVerdict } from "../../../../src/shared/contracts/prober.js";
import { ProbeDeadline } from "../../../../src/shared/node/probes/probe-deadline.js";
import { StallMeter } from "../../../../src/shared/node/probes/stall-meter.js";
import { newTally, tallyRun } from "../../../../src/shared/node/probes/thresholds.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const OUTCOMES: Readonly<Record<string, ProbeOutcome>> = { s: "success", w: "warning", f: "failure", e: "error" };

describe("thresholds", () => {
  // Runs, and the verdict after each: S, F, or - for none.
  const table: [
    name: string,
    before: ProbeVerdict | undefined,
    needed: [number, number],
    runs: string,
    after: string,
  ][] = [
    ["the first success is enough by default", undefined, [1, 3], "s", "S"],
    ["three failures make a failure", undefined, [1, 3], "fff", "--F"],
    ["a success between starts over", undefined, [2, 3], "ffsff", "-----"],
    ["an error neither counts nor starts over", undefined, [1, 3], "ffef", "---F"],
    ["a warning is a success", "Failure", [1, 1], "w", "S"],
    ["two successes needed", "Failure", [2, 1], "sfss", "FFFS"],
    ["what was known holds until enough runs say otherwise", "Success", [1, 3], "ffsfff", "SSSSSF"],
    ["errors alone change nothing", "Success", [1, 1], "eee", "SSS"],
    ["it stays", "Failure", [1, 3], "ffff", "FFFF"],
  ];
  for (const [name, before, [successThreshold, failureThreshold], runs, after] of table) {
    test(name, () => {
      let tally = newTally(before);
      const verdicts = Array.from(runs, (letter) => {
        tally = tallyRun(tally, OUTCOMES[letter]!, { successThreshold, failureThreshold });
        return tally.verdict?.[0] ?? "-";
      });
      assert.equal(verdicts.join(""), after);
    });
  }
});

describe("deadline", () => {
  const start = (timeoutMs: number) => {
    const clock = new SteppedClock();
    const cancel = new AbortController();
    const deadline = new ProbeDeadline(clock, new StallMeter(clock), timeoutMs, cancel.signal);
    return { clock, cancel, deadline };
  };

  test("the deadline aborts its signal when time runs out", () => {
    const { clock, deadline } = start(1000);
    clock.step(999);
    assert.equal(deadline.signal.aborted, false);
    clock.step(1);
    assert.match(String(deadline.signal.reason), /^ProbeTimeoutError: .* 1000 ms$/);
    assert.equal(deadline.expired, true);
    deadline[Symbol.dispose]();
    assert.equal(clock.pending, 0);
  });

  test("the thread's own delay is added", () => {
    const { clock, deadline } = start(1000);
    clock.step(500);
    // The event loop does not turn for two seconds: when it does, the time-out is long past.
    clock.freeze(2000);
    clock.step(1);
    assert.equal(deadline.signal.aborted, false);
    clock.step(450);
    assert.equal(deadline.signal.aborted, false, "half a second was left");
    clock.step(100);
    assert.equal(deadline.expired, true);
    deadline[Symbol.dispose]();
    assert.equal(clock.pending, 0);
  });

  test("a probe that is called off has not timed out", () => {
    const { clock, cancel, deadline } = start(1000);
    cancel.abort(new Error("no longer wanted"));
    assert.equal(deadline.signal.aborted, true);
    assert.equal(deadline.expired, false);
    deadline[Symbol.dispose]();
    assert.equal(clock.pending, 0);
  });

  test("the meter ticks only while a measurement runs", () => {
    const clock = new SteppedClock();
    const meter = new StallMeter(clock);
    const [endOne, endTwo] = [meter.use(), meter.use()];
    endOne();
    endOne();
    clock.freeze(500);
    clock.step(1);
    assert.ok(meter.stalledMs > 450 && meter.stalledMs <= 500, String(meter.stalledMs));
    endTwo();
    assert.equal(clock.pending, 0);
    const before = meter.stalledMs;
    clock.freeze(5000);
    meter.use()();
    assert.equal(meter.stalledMs, before, "no measurement");
  });
});
