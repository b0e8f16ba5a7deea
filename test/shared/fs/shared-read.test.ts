// Readings that are shared: never older than the question.
import assert from "node:assert/strict";
import { test } from "node:test";
import { sharedRead } from "../../../src/shared/fs/shared-read.js";

/** Readings that end when the test says so; each gives its number. */
function readings() {
  const ends: ((error?: Error) => void)[] = [];
  const read = sharedRead(
    () =>
      new Promise<number>((resolve, reject) => {
        const number = ends.length;
        ends.push((error) => (error === undefined ? resolve(number) : reject(error)));
      }),
  );
  return { read, ends };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("who asks while a reading is under way shares the next one", async () => {
  const { read, ends } = readings();
  const first = read();
  const others = [read(), read()];
  await turn();
  assert.equal(ends.length, 1, "one at a time");
  ends[0]?.();
  assert.equal(await first, 0);
  await turn();
  const late = read();
  assert.equal(ends.length, 2);
  ends[1]?.();
  assert.deepEqual(await Promise.all(others), [1, 1]);
  await turn();
  assert.equal(ends.length, 3, "the late one asked when the second was under way");
  ends[2]?.();
  assert.equal(await late, 2);
  const alone = read();
  assert.equal(ends.length, 4);
  ends[3]?.();
  assert.equal(await alone, 3);
});

test("a reading that fails fails for those who share it, and the next one is made", async () => {
  const { read, ends } = readings();
  const first = read();
  const second = read();
  ends[0]?.(new Error("no"));
  await assert.rejects(first, /no/);
  await turn();
  ends[1]?.();
  assert.equal(await second, 1);
});
