// Loops: when rounds begin, requests, failures and the stop.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { Loop, type LoopOptions } from "../../../../src/shared/base/turns/loop.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

/** A loop whose rounds end when the test ends them. */
class Rig {
  readonly clock = new SteppedClock();
  /** Times at which rounds began. */
  readonly begun: number[] = [];
  readonly failures: unknown[] = [];
  readonly loop: Loop;
  signal: AbortSignal | undefined;
  private settle: { resolve: (waitMs?: number) => void; reject: (error: Error) => void } | undefined;

  constructor(options: Partial<LoopOptions> = {}) {
    this.loop = new Loop({
      clock: this.clock,
      periodMs: 1000,
      round: (signal) => {
        this.signal = signal;
        this.begun.push(this.clock.monotonic());
        return new Promise((resolve, reject) => {
          this.settle = { resolve, reject };
        });
      },
      failed: (error) => {
        this.failures.push(error);
        return undefined;
      },
      ...options,
    });
  }

  async end(waitMs?: number): Promise<void> {
    this.settle?.resolve(waitMs);
    await turn();
  }

  async fail(error: Error): Promise<void> {
    this.settle?.reject(error);
    await turn();
  }
}

test("the first round begins at once, the next one period after the beginning of the last", async () => {
  const rig = new Rig();
  const { clock, loop, begun } = rig;
  loop.start();
  clock.step(300);
  await rig.end();
  clock.step(699);
  assert.deepEqual(begun, [0]);
  clock.step(1);
  assert.deepEqual(begun, [0, 1000]);
});

test("a round that takes longer than the period is followed at once, never overlapped", async () => {
  const rig = new Rig();
  const { clock, loop, begun } = rig;
  loop.start();
  clock.step(2500);
  assert.deepEqual(begun, [0]);
  await rig.end();
  clock.step(0);
  assert.deepEqual(begun, [0, 2500]);
});

test("a start after a wait, and a round that decides on the wait after it", async () => {
  const rig = new Rig();
  const { clock, loop, begun } = rig;
  loop.start(50);
  clock.step(50);
  clock.step(10);
  await rig.end(7);
  clock.step(7);
  assert.deepEqual(begun, [50, 67]);
});

test("a request begins a round at once", async () => {
  const rig = new Rig({ periodMs: Infinity });
  const { clock, loop, begun } = rig;
  loop.start();
  await rig.end();
  assert.equal(clock.pending, 0, "an infinite period needs no timer");
  clock.step(10);
  loop.requestRound();
  assert.deepEqual(begun, [0, 10]);
});

test("any number of requests during a round cause one more round, which settled() awaits", async () => {
  const rig = new Rig();
  const { loop, begun } = rig;
  loop.start();
  loop.requestRound();
  loop.requestRound();
  let settled = false;
  const wait = loop.settled().then(() => (settled = true));
  await rig.end();
  assert.deepEqual([begun.length, settled], [2, false]);
  await rig.end();
  await wait;
  assert.equal(begun.length, 2);
});

test("no request is lost in the turns in which a round ends", async () => {
  for (let hops = 0; hops < 8; hops++) {
    let asked = 0;
    let done = 0;
    const loop = new Loop({
      clock: new SteppedClock(),
      periodMs: Infinity,
      failed: () => undefined,
      round: async () => {
        await Promise.resolve();
        done = asked;
        return undefined;
      },
    });
    asked = 1;
    loop.start();
    for (let hop = 0; hop < hops; hop++) await Promise.resolve();
    asked = 2;
    loop.requestRound();
    await turn();
    assert.equal(done, 2, `request ${hops} turns after the start`);
  }
});

test("requests within the gap are one, and wait for it", async () => {
  const rig = new Rig({ gapMs: 100 });
  const { clock, loop, begun } = rig;
  loop.start();
  loop.requestRound();
  await rig.end();
  loop.requestRound();
  clock.step(99);
  assert.deepEqual(begun, [0]);
  clock.step(1);
  assert.deepEqual(begun, [0, 100]);
});

test("requests before the start and after the stop do nothing", async () => {
  const rig = new Rig();
  const { clock, loop, begun } = rig;
  loop.requestRound();
  assert.deepEqual(begun, []);
  loop.start();
  await rig.end();
  await loop.stop();
  loop.requestRound();
  loop.start();
  clock.step(10_000);
  assert.deepEqual([begun, clock.pending], [[0], 0]);
});

test("a failed round is reported and the loop continues", async () => {
  const rig = new Rig();
  const { clock, loop, begun, failures } = rig;
  const error = new Error("no");
  loop.start();
  await rig.fail(error);
  clock.step(1000);
  assert.deepEqual([failures, begun], [[error], [0, 1000]]);
});

test("the report of a failure decides on the wait after it", async () => {
  const rig = new Rig({ failed: () => 5 });
  const { clock, loop, begun } = rig;
  loop.start();
  await rig.fail(new Error("no"));
  clock.step(5);
  assert.deepEqual(begun, [0, 5]);
});

test("stop aborts the round, awaits its end and reports nothing of it", async () => {
  const rig = new Rig();
  const { clock, loop, failures } = rig;
  loop.start();
  loop.requestRound();
  let stopped = false;
  const stop = loop.stop().then(() => (stopped = true));
  await turn();
  assert.deepEqual([rig.signal?.aborted, stopped], [true, false]);
  await rig.fail(new Error("aborted"));
  await stop;
  assert.deepEqual([failures, rig.begun, clock.pending], [[], [0], 0]);
});
