// Turns of all readers of logs on a thread: pods alternate, and the thread rests.

import assert from "node:assert/strict";
import { test } from "node:test";
import { monotonicTime } from "../../../../../src/shared/base/clock/moments.js";
import { podUid } from "../../../../../src/shared/kubernetes/identifiers.js";
import { ReaderTurns } from "../../../../../src/workers/server/logs/pods/reader-turns.js";

/** Time that only the work and the rests move on. */
function world() {
  let time = 0;
  const rests: number[] = [];
  const clock = {
    monotonic: () => monotonicTime(time),
    sleep: (ms: number) => {
      rests.push(ms);
      time += ms;
      return Promise.resolve();
    },
  };
  const turns = new ReaderTurns(clock);
  const order: string[] = [];
  const read = async (pod: string, pieces: number, ms: number): Promise<void> => {
    for (let piece = 0; piece < pieces; piece++) {
      await turns.turn(podUid(pod));
      order.push(pod);
      time += ms;
    }
  };
  return { rests, order, read };
}

test("a reader of one pod has its turn after at most one of each other pod, however many readers those have", async () => {
  const { order, read } = world();
  const noisy = Array.from({ length: 30 }, (_, index) => read(index % 2 === 0 ? "a" : "b", 4, 1));
  await Promise.all([...noisy, read("victim", 3, 1)]);
  const places = order.flatMap((pod, at) => (pod === "victim" ? [at] : []));
  assert.equal(order.length, 123);
  assert.ok((places.at(-1) ?? Infinity) <= 12, `its turns were ${places.join()}`);
});

test("after each share of 5 ms the thread rests 1 ms, and longer when the share took longer", async () => {
  const { rests, read } = world();
  const afterwards = async (pieces: number, ms: number): Promise<number[]> => {
    await read("a", pieces, ms);
    for (let round = 0; round < 20; round++) await new Promise((resolve) => setImmediate(resolve));
    return rests.splice(0);
  };
  assert.deepEqual(await afterwards(4, 1), []);
  assert.deepEqual(await afterwards(5, 1), [1]);
  assert.deepEqual(await afterwards(1, 30), [25]);
  assert.deepEqual(await afterwards(1, 400), [50]);
});
