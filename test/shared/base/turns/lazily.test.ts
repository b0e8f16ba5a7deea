// A part that the first caller makes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { lazily } from "../../../../src/shared/base/turns/lazily.js";

test("callers at the same time share one making, and a failure is not remembered", async () => {
  let made = 0;
  const part = lazily(() => {
    made++;
    return made === 1 ? Promise.reject(new Error("not yet")) : Promise.resolve(made);
  });
  const first = await Promise.allSettled([part(), part()]);
  assert.deepEqual(
    first.map(({ status }) => status),
    ["rejected", "rejected"],
  );
  assert.deepEqual(await Promise.all([part(), part()]), [2, 2]);
  assert.equal(await part(), 2);
});
