// @promise Hostile tenants and clients: Each round of main's event loop bounds the time of some work: syncs of pods
//   that arrive together, forks of helper processes, long records between threads. A changed status is sent to the
//   servers' threads without the pod's definition; a text that both get is made once.
// @with test/shared/node/volume-calls/helper.test.ts, test/shared/base/queue/queue-ends.test.ts,
//   test/main/threads/pod-texts.test.ts

import assert from "node:assert/strict";
import { test } from "node:test";
import { monotonicTime } from "../../../../src/shared/base/clock/moments.js";
import { LoopShare } from "../../../../src/shared/base/turns/loop-share.js";

/** Time that only the work moves on. */
function workClock() {
  let time = 0;
  return { monotonic: () => monotonicTime(time), work: (ms: number) => (time += ms) };
}

/**
 * Work of all pieces by rounds of the event loop; an immediate counts at the end of one, so a number may be that of
 * two.
 */
async function rounds(pieces: number, ms: number): Promise<number[]> {
  const clock = workClock();
  const share = new LoopShare(clock);
  const perRound: number[] = [0];
  let running = true;
  const count = (): void => {
    if (!running) return;
    perRound.push(0);
    setImmediate(count);
  };
  setImmediate(count);
  await Promise.all(
    Array.from({ length: pieces }, async () => {
      await share.turn();
      clock.work(ms);
      perRound[perRound.length - 1] = (perRound.at(-1) ?? 0) + ms;
    }),
  );
  running = false;
  return perRound;
}

test("pieces of work that are long have a round of the event loop each", async () => {
  const perRound = await rounds(20, 30);
  assert.ok(Math.max(...perRound) <= 60, String(perRound));
});

test("short pieces share a round up to the share", async () => {
  const perRound = await rounds(100, 1);
  assert.ok(Math.max(...perRound) <= 10, String(perRound));
});

test("a piece begins at once while the share is not used up", async () => {
  const share = new LoopShare(workClock());
  let begun = 0;
  for (let piece = 0; piece < 10; piece++) void share.turn().then(() => begun++);
  for (let microtask = 0; microtask < 40; microtask++) await Promise.resolve();
  assert.equal(begun, 10);
});

test("work without a turn counts: the pieces that follow from it begin in a later round of the event loop", async () => {
  const clock = workClock();
  const share = new LoopShare(clock);
  let begun = 0;
  const piece = (): Promise<void> => share.turn().then(() => void begun++);
  share.spend(() => clock.work(50));
  const pieces = [piece(), piece()];
  for (let microtask = 0; microtask < 40; microtask++) await Promise.resolve();
  assert.equal(begun, 0);
  await Promise.all(pieces);
  assert.equal(
    share.spend(() => "value"),
    "value",
  );
  assert.throws(() => share.spend(() => assert.fail("thrown")), /thrown/);
  await piece();
});

test("a share with a rest begins no work after a used up share until the rest is over", async () => {
  const clock = workClock();
  const rests: number[] = [];
  let wake: () => void = () => undefined;
  const share = new LoopShare(clock, (tookMs) => {
    rests.push(tookMs);
    return new Promise((resolve) => (wake = resolve));
  });
  let done = 0;
  for (let piece = 0; piece < 4; piece++) {
    void share.turn().then(() => {
      clock.work(3);
      done++;
    });
  }
  const rounds = async (): Promise<void> => {
    for (let round = 0; round < 50; round++) await new Promise((resolve) => setImmediate(resolve));
  };
  await rounds();
  assert.deepEqual([done, rests], [2, [6]]);
  wake();
  await rounds();
  assert.deepEqual([done, rests], [4, [6, 6]]);
  wake();
});

test("a share with a rest does not rest while it is not used up", async () => {
  const share = new LoopShare(workClock(), () => Promise.reject(new Error("rests")));
  for (let piece = 0; piece < 20; piece++) {
    await share.turn();
    await new Promise((resolve) => setImmediate(resolve));
  }
});
