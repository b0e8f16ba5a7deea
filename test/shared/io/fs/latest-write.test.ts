import assert from "node:assert/strict";
import { test } from "node:test";
import { LatestWrite } from "../../../../src/shared/io/fs/latest-write.js";

test("changes during a write are in the next one, however many; a wait ends with it", async () => {
  let state = 1;
  const written: number[] = [];
  let go: () => void = () => undefined;
  const file = new LatestWrite({
    async write() {
      const now = state;
      await new Promise<void>((resolve) => (go = resolve));
      written.push(now);
    },
    failed: () => assert.fail("nothing fails"),
  });
  const first = file.request();
  state = 2;
  void file.request();
  state = 3;
  void file.request();
  go();
  while (written.length === 0) await Promise.resolve();
  await Promise.resolve();
  go();
  await first;
  assert.deepEqual(written, [1, 3]);
  await file.settled();
});

test("the first failure after a success is reported, and the next request tries again", async () => {
  const errors: unknown[] = [];
  const outcomes = ["no", "no", "yes", "no"];
  const file = new LatestWrite({
    write: () => (outcomes.shift() === "yes" ? Promise.resolve() : Promise.reject(new Error("full"))),
    failed: (error) => errors.push(error),
  });
  const calls: number[] = [];
  for (let i = 0; i < 4; i++) {
    await file.request();
    calls.push(errors.length);
  }
  assert.deepEqual(calls, [1, 1, 1, 2]);
});

test("a wait for the write rejects while it fails, and resolves once it succeeds", async () => {
  const outcomes = ["no", "no", "yes"];
  const file = new LatestWrite({
    write: () => (outcomes.shift() === "yes" ? Promise.resolve() : Promise.reject(new Error("full"))),
    failed: () => undefined,
  });
  for (let i = 0; i < 2; i++) await assert.rejects(file.written(), /full/);
  await file.written();
});
