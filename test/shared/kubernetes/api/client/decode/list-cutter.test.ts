// @promise Cluster: A list of any size, cut anywhere, decodes as JSON.parse does, in slices of 2 ms (single objects
//   and garbage collections take longer).

import { deepEqual, throws } from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import { ListCutter } from "../../../../../../src/shared/kubernetes/api/client/decode/list-cutter.js";

interface Outcome {
  items: unknown[];
  rest: unknown;
}

/** The list, cut into blocks of these sizes (the last one for good). */
function decoded(text: string, sizes: readonly number[]): Outcome {
  const bytes = Buffer.from(text);
  const cutter = new ListCutter();
  const items: unknown[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[Math.min(turn, sizes.length - 1)] ?? 1;
    for (const item of cutter.push(bytes.subarray(at, at + size))) items.push(JSON.parse(item.toString()));
    at += size;
  }
  return { items, rest: JSON.parse(cutter.rest().toString()) };
}

const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 20 });
const value = fc.oneof(
  fc.jsonValue({ maxDepth: 4, stringUnit: "grapheme" }),
  fc.constantFrom('"', "\\", '\\"', "],", "}{[]", '"items":[', { items: [1, { items: [] }] }, { "a\\": "]" }),
);
const others = fc.dictionary(fc.constantFrom("kind", "metadata", "item", "items2", "a", "\\", "]"), value);

it("returns the result of JSON.parse for every cut of the bytes", () => {
  fc.assert(
    fc.property(
      fc.array(value),
      others,
      others,
      sizes,
      fc.integer({ min: 0, max: 3 }),
      (items, first, last, cut, indent) => {
        const list = { ...first, items, ...last };
        deepEqual(decoded(JSON.stringify(list, undefined, indent), cut), {
          items: JSON.parse(JSON.stringify(items)) as unknown,
          rest: JSON.parse(JSON.stringify({ ...list, items: [] })) as unknown,
        });
      },
    ),
    { numRuns: 500 },
  );
});

it("leaves alone a text that is not a list of items", () => {
  for (const text of [
    '{"items":null}',
    '{"a":{"items":[1]}}',
    '[{"items":[1]}]',
    '"items"',
    "[[1],[2]]",
    '{"b":"items"}',
  ]) {
    deepEqual(decoded(text, [3]), { items: [], rest: JSON.parse(text) as unknown });
  }
});

it("fails where JSON.parse fails", () => {
  const whole = JSON.stringify({ metadata: { a: "]" }, items: [{ a: [1, "x\\"] }, { b: "ä" }], z: 1 });
  for (let end = 0; end < whole.length; end++) throws(() => decoded(whole.slice(0, end), [7]), SyntaxError);
  for (const text of [
    '{"items":[1,]}',
    '{"items":[,1]}',
    '{"items":[1,,2]}',
    '{"items":[1 2]}',
    '{"items":[{]]}',
    '{"items":[]]}',
    '{"items":[1]}}',
  ]) {
    throws(() => JSON.parse(text), SyntaxError);
    throws(() => decoded(text, [1]), SyntaxError, text);
  }
});
