import assert from "node:assert/strict";
import { test } from "node:test";
import { mapAtMost, settleAtMost } from "../../../../src/shared/base/turns/map-at-most.js";

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("the results are in the order of the items, and no more calls than the limit are under way", async () => {
  let underWay = 0;
  let most = 0;
  const doubled = await mapAtMost(3, [5, 1, 4, 2, 3], async (item) => {
    most = Math.max(most, ++underWay);
    for (let ticks = 0; ticks < item; ticks++) await tick();
    underWay--;
    return item * 2;
  });
  assert.deepEqual([doubled, most], [[10, 2, 8, 4, 6], 3]);
});

test("without items nothing is called", async () => {
  assert.deepEqual(await mapAtMost(3, [], () => Promise.reject(new Error("called"))), []);
});

test("the first failure rejects, and no further call begins", async () => {
  const begun: number[] = [];
  const all = mapAtMost(2, [1, 2, 3, 4, 5], async (item) => {
    begun.push(item);
    await tick();
    if (item === 2) throw new Error("no response");
  });
  await assert.rejects(all, { message: "no response" });
  await tick();
  assert.deepEqual(begun, [1, 2, 3]);
});

test("a collection that the work changes is taken as it was", async () => {
  const ids = new Set(["a", "b"]);
  assert.deepEqual(await mapAtMost(1, ids, (id) => Promise.resolve(ids.delete(id))), [true, true]);
});

test("with outcomes, a failure ends no other call", async () => {
  const outcomes = await settleAtMost(2, [1, 2, 3], (item) =>
    item === 2 ? Promise.reject(new Error("two")) : Promise.resolve(item * 10),
  );
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ["fulfilled", "rejected", "fulfilled"],
  );
});
