import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { sameJson } from "../../../../src/shared/kubernetes/api/same-json.js";
import { randomFrom } from "../../../support/seeded-random.js";

const random = randomFrom(14);
const pick = <T>(values: readonly T[]): T | undefined => values[Math.floor(random() * values.length)];

function anyValue(depth: number): unknown {
  const kind = depth === 0 ? 0 : Math.floor(random() * 3);
  if (kind === 0) return pick([null, undefined, 0, -0, 1, NaN, "", "a", true, false]);
  const children = Array.from({ length: Math.floor(random() * 3) }, () => anyValue(depth - 1));
  if (kind === 1) return children;
  return Object.fromEntries(children.map((child) => [pick(["a", "b", "__proto__", "length", "0"]), child]));
}

test("equality of random JSON values is that of isDeepStrictEqual", () => {
  for (let round = 0; round < 20_000; round++) {
    const [one, other] = [anyValue(3), random() < 0.5 ? anyValue(3) : undefined];
    const copy = structuredClone(one);
    assert.equal(sameJson(one, other), isDeepStrictEqual(one, other), JSON.stringify([one, other]));
    assert.equal(sameJson(one, copy), isDeepStrictEqual(one, copy), JSON.stringify(one));
  }
});

test("a list is no object with the same keys", () => {
  assert.equal(sameJson([], {}), false);
  assert.equal(sameJson({}, []), false);
  assert.equal(sameJson(["a"], { 0: "a" }), false);
});

test("values nested without end are different, not an error", () => {
  const nested = (): unknown => JSON.parse("[".repeat(9_000) + "]".repeat(9_000));
  assert.equal(sameJson(nested(), nested()), false);
});
