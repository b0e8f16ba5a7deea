// A shutdown waits a moment until the API server has heard of a pod's end.

import assert from "node:assert/strict";
import { test } from "node:test";
import { whenEndIsReported } from "../../../../src/main/node/shutdown/reported-end.js";
import type { PodPhase } from "../../../../src/shared/kubernetes/api/pod-status.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { settle } from "../../../support/sync-kit.js";

const UID = podUid("u1");

/** Milliseconds that pass until the end counts as reported. `phaseAt`: the phase in the API after so many. */
async function waited(phaseAt: (ms: number) => PodPhase | undefined): Promise<number> {
  const clock = new SteppedClock();
  let ms = 0;
  const over: number[] = [];
  void whenEndIsReported(UID, { phaseInApi: () => phaseAt(ms), clock }).then(() => over.push(ms));
  await settle();
  while (over.length === 0 && ms < 60_000) {
    ms += 50;
    clock.step(50);
    await settle();
  }
  return over[0] ?? Infinity;
}

test("an end that the API server has, and a pod without an object, are not waited for", async () => {
  assert.equal(await waited(() => "Failed"), 0);
  assert.equal(await waited(() => undefined), 0);
});

test("an end that the API server hears of soon is waited for", async () => {
  const ms = await waited((passed) => (passed < 300 ? "Running" : "Failed"));
  assert.ok(ms >= 300 && ms <= 400, `${ms} ms`);
});

test("a server that is away holds the shutdown for a second", async () => {
  const ms = await waited(() => "Running");
  assert.ok(ms >= 1000 && ms <= 1100, `${ms} ms`);
});
