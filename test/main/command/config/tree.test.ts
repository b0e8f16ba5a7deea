import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { merge, mergeMaps } from "../../../../src/main/command/config/merge.js";
import { type Origin } from "../../../../src/main/command/config/origin.js";
import { NOTHING, plain, treeOf, type MapNode, type Tree } from "../../../../src/main/command/config/tree.js";

const DEFAULT: Origin = { kind: "default" };
const tree = (value: unknown): Tree => treeOf(value, DEFAULT);
const merged = (target: unknown, patch: unknown): unknown => plain(merge(tree(target), tree(patch)));

// RFC 7386, appendix A.
describe("JSON merge patch", () => {
  const table: [unknown, unknown, unknown][] = [
    [{ a: "b" }, { a: "c" }, { a: "c" }],
    [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
    [{ a: "b" }, { a: null }, {}],
    [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
    [{ a: ["b"] }, { a: "c" }, { a: "c" }],
    [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
    [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
    [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
    [
      ["a", "b"],
      ["c", "d"],
      ["c", "d"],
    ],
    [{ a: "b" }, ["c"], ["c"]],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: "b", c: null }, { a: "b" }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ];
  for (const [target, patch, expected] of table) {
    test(`${JSON.stringify(target)} and ${JSON.stringify(patch)}`, () => deepEqual(merged(target, patch), expected));
  }
});

// A key always has one kind, as the types of fields ensure. No merge patch is associative if a place has a map, then
// text, then a map.
const number = fc.integer({ min: 0, max: 3 });
const { patch: patches } = fc.letrec((tie) => ({
  patch: fc.record(
    {
      scalar: number,
      ["__proto__"]: number,
      list: fc.array(number, { maxLength: 2 }),
      map: fc.oneof({ depthSize: "small" }, fc.constant({}), tie("patch")),
      other: fc.oneof({ depthSize: "small" }, fc.constant({}), tie("patch")),
    },
    { requiredKeys: [] },
  ),
}));

/** Every node of a map tree with another origin per source. */
const source = (data: unknown, flag: string): MapNode => treeOf(data, { kind: "flag", flag }) as MapNode;

test("merging patches without nulls is associative for fields of one type, origins included", () => {
  fc.assert(
    fc.property(patches, patches, patches, (a, b, c) => {
      const [x, y, z] = [source(a, "a"), source(b, "b"), source(c, "c")];
      deepEqual(mergeMaps(mergeMaps(x, y), z), mergeMaps(x, mergeMaps(y, z)));
    }),
  );
});

test("nothing merged with a source is the source; merged twice changes nothing", () => {
  fc.assert(
    fc.property(patches, (data) => {
      const tree = source(data, "a");
      deepEqual(mergeMaps(NOTHING, tree), tree);
      deepEqual(mergeMaps(tree, tree), tree);
    }),
  );
});

test("values keep the origin of the source that gave them", () => {
  const both = mergeMaps(source({ a: { x: 1, y: 1 }, l: [1] }, "low"), source({ a: { y: 2 } }, "high"));
  const a = both.entries.get("a");
  const originOf = (node: Tree | undefined): unknown => (node?.origin.kind === "flag" ? node.origin.flag : undefined);
  equal(originOf(both.entries.get("l")), "low");
  equal(a?.kind === "map" && originOf(a.entries.get("x")), "low");
  equal(a?.kind === "map" && originOf(a.entries.get("y")), "high");
});
