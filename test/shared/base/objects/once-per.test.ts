// Values that are computed once for an object.

import assert from "node:assert/strict";
import { test } from "node:test";
import { oncePer } from "../../../../src/shared/base/objects/once-per.js";

test("a value is computed once for each object, one of undefined too", () => {
  const computed: string[] = [];
  const first = oncePer(({ name }: { name: string }) => {
    computed.push(name);
    return name === "" ? undefined : name;
  });
  const [a, other, empty] = [{ name: "a" }, { name: "a" }, { name: "" }];
  assert.deepEqual(
    [first(a), first(a), first(other), first(empty), first(empty)],
    ["a", "a", "a", undefined, undefined],
  );
  assert.deepEqual(computed, ["a", "a", ""]);
});

test("a value whose computation threw is computed again", () => {
  let count = 0;
  const second = oncePer(() => {
    if (++count === 1) throw new Error("not yet");
    return count;
  });
  const key = {};
  assert.throws(() => second(key), /not yet/);
  assert.deepEqual([second(key), second(key)], [2, 2]);
});
