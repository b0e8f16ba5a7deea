// The time of proof under virtual time.

import assert from "node:assert/strict";
import { test } from "node:test";
import { TrialWatch } from "../../../../src/main/process/dynamic-config/trial.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const TRIAL_MS = 10 * 60_000;
const NEVER_HEALTHY_MS = 5 * 60_000;

interface Trial {
  clock: SteppedClock;
  watch: TrialWatch;
  said: string[];
  health: { now: boolean };
}

function trial(healthy: boolean): Trial {
  const clock = new SteppedClock();
  const said: string[] = [];
  const health = { now: healthy };
  const watch = new TrialWatch({
    clock,
    healthy: () => health.now,
    onPassed: () => said.push("passed"),
    onNeverHealthy: () => said.push("never healthy"),
  });
  return { clock, watch, said, health };
}

test("passes after ten healthy minutes, once, and leaves no timer", () => {
  const { clock, said } = trial(true);
  clock.step(TRIAL_MS - 1);
  assert.deepEqual(said, []);
  clock.step(10_000);
  assert.deepEqual(said, ["passed"]);
  clock.step(10 * TRIAL_MS);
  assert.deepEqual(said, ["passed"]);
  assert.equal(clock.pending, 0);
});

test("an unhealthy period restarts the time, and is no failure after a healthy one", () => {
  const { clock, said, health } = trial(true);
  clock.step(TRIAL_MS - 10_000);
  health.now = false;
  clock.step(3 * NEVER_HEALTHY_MS);
  health.now = true;
  clock.step(TRIAL_MS - 10_000);
  assert.deepEqual(said, []);
  clock.step(20_000);
  assert.deepEqual(said, ["passed"]);
});

test("fails when it does not get healthy at all", () => {
  const { clock, said, watch } = trial(false);
  clock.step(NEVER_HEALTHY_MS - 1);
  assert.deepEqual(said, []);
  assert.equal(watch.everHealthy, false);
  clock.step(1);
  assert.deepEqual(said, ["never healthy"]);
  assert.equal(clock.pending, 0);
});

test("time in which the process was stopped proves nothing", () => {
  const { clock, said } = trial(true);
  clock.step(60_000);
  clock.freeze(2 * TRIAL_MS);
  clock.step(60_000);
  assert.deepEqual(said, []);
});

test("stopped, it reports nothing more", () => {
  const { clock, said, watch } = trial(true);
  clock.step(10_000);
  assert.equal(watch.everHealthy, true);
  watch.stop();
  clock.step(TRIAL_MS);
  assert.deepEqual(said, []);
  assert.equal(clock.pending, 0);
});
