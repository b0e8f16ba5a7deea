// Stops of one pod's containers reach the runtime a few at a time: the shim of containerd 1.6 loses exits of more.

import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { extraMsOf, STOPS_AT_ONCE, stopApart } from "../../../../src/main/pods/sync/stops-apart.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const NEVER = new AbortController().signal;
const steps = Array.from({ length: 3 * STOPS_AT_ONCE }, (_, index) => index);

function build({ signal = NEVER, isLate = false } = {}) {
  const clock = new SteppedClock();
  const begun: number[] = [];
  const ends = new Map<number, (error?: Error) => void>();
  const done = stopApart(steps, clock, { signal, isLate }, (step) => {
    begun.push(step);
    return new Promise<void>((resolve, reject) =>
      ends.set(step, (error) => (error === undefined ? resolve() : reject(error))),
    );
  });
  return { clock, begun, ends, done };
}

test("stops begin in order, and no more than the shim takes at a time", async () => {
  const { begun, ends, done } = build();
  await turn();
  deepEqual(begun, steps.slice(0, STOPS_AT_ONCE));
  for (const step of steps) {
    ends.get(step)?.();
    await turn();
    equal(begun.length, Math.min(steps.length, STOPS_AT_ONCE + step + 1));
  }
  await done;
  deepEqual(begun, steps);
});

test("containers that exit late hold up the stops of others for a second at most", async () => {
  const { clock, begun, ends, done } = build();
  await turn();
  clock.step(999);
  await turn();
  equal(begun.length, STOPS_AT_ONCE);
  clock.step(1);
  await turn();
  equal(begun.length, 2 * STOPS_AT_ONCE);
  clock.step(1000);
  await turn();
  deepEqual(begun, steps);
  for (const end of ends.values()) end();
  await done;
});

test("after the grace period a stop waits ten seconds for a place, and the watch of the stop waits for all", async () => {
  const { clock, begun, ends, done } = build({ isLate: true });
  await turn();
  clock.step(9999);
  await turn();
  equal(begun.length, STOPS_AT_ONCE);
  clock.step(1);
  await turn();
  equal(begun.length, 2 * STOPS_AT_ONCE);
  clock.step(10_000);
  await turn();
  for (const end of ends.values()) end();
  await done;
  deepEqual([0, 1, 16, 17, 33].map(extraMsOf), [0, 0, 0, 5000, 10_000]);
});

test("a failed stop leaves its place, and its error is reported when all have ended", async () => {
  const { begun, ends, done } = build();
  await turn();
  ends.get(0)?.(new Error("first"));
  for (const step of steps) {
    await turn();
    ends.get(step)?.();
  }
  await rejects(done, /^Error: first$/);
  deepEqual(begun, steps);
});

test("after an abort no further stop begins", async () => {
  const abort = new AbortController();
  const { begun, ends, done } = build({ signal: abort.signal });
  await turn();
  abort.abort(new Error("a shorter grace period"));
  for (const end of ends.values()) end(new Error("aborted"));
  await rejects(done, /^Error: aborted$/);
  equal(begun.length, STOPS_AT_ONCE);
});
