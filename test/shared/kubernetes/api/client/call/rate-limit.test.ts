import { deepEqual, equal, rejects } from "node:assert/strict";
import { describe, it } from "node:test";
import { RateLimit } from "../../../../../../src/shared/kubernetes/api/client/call/rate-limit.js";
import { SteppedClock } from "../../../../../support/stepped-clock.js";

/** Takes `count` tokens at once; the times at which each was given, in the order they were given. */
async function times(qps: number, burst: number, count: number, forMs: number): Promise<[number, number][]> {
  const clock = new SteppedClock();
  const limit = new RateLimit(qps, burst, clock);
  const given: [number, number][] = [];
  for (let who = 0; who < count; who++)
    void limit.acquire(new AbortController().signal).then(() => given.push([who, clock.monotonic()]));
  for (let at = 0; at <= forMs; at += 50) {
    await new Promise(setImmediate);
    clock.step(50);
  }
  return given;
}

describe("client-side throttling", () => {
  it("gives the burst at once, then so many a second, first come first served", async () => {
    const given = await times(10, 3, 6, 400);
    deepEqual(
      given.map(([who]) => who),
      [0, 1, 2, 3, 4, 5],
    );
    deepEqual(
      given.map(([, at]) => at),
      [0, 0, 0, 100, 200, 300],
    );
  });

  for (const [qps, burst, atOnce] of [
    [0, 0, 10],
    [50, 100, 100],
    [-1, 1, 150],
  ] as const) {
    it(`qps ${qps} and burst ${burst} give ${atOnce} of 150 at once`, async () => {
      const given = await times(qps, burst, 150, 0);
      equal(given.filter(([, at]) => at === 0).length, atOnce);
    });
  }

  it("holds no more than the burst after a pause", async () => {
    const clock = new SteppedClock();
    const limit = new RateLimit(10, 2, clock);
    const { signal } = new AbortController();
    await limit.acquire(signal);
    clock.step(3_600_000);
    deepEqual([await limit.acquire(signal), await limit.acquire(signal)], [0, 0]);
    const third = limit.acquire(signal);
    clock.step(100);
    equal(await third, 100);
  });

  it("drops a waiter that no longer waits, and its timer with the last", async () => {
    const clock = new SteppedClock();
    const limit = new RateLimit(10, 1, clock);
    const stop = new AbortController();
    const { signal } = new AbortController();
    await limit.acquire(signal);
    const gone = limit.acquire(stop.signal);
    const stays = limit.acquire(signal);
    stop.abort(new Error("enough"));
    await rejects(gone, /enough/);
    clock.step(100);
    equal(await stays, 100);
    equal(clock.pending, 0);
    await rejects(limit.acquire(stop.signal), /enough/);
  });
});
