import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { deviceHints, type HintInput } from "../../../../src/main/resources/devices/device-hints.js";
import { devices } from "./kit.js";

const input = (given: Parameters<typeof devices>[0], fields: Partial<HintInput> = {}): HintInput => {
  const all = devices(given);
  return {
    devices: all,
    numaNodes: [0, 1],
    available: new Set(all.keys()),
    reusable: new Set(),
    request: 1,
    ...fields,
  };
};
const shown = (given: HintInput): string[] =>
  deviceHints(given).map(({ nodes, preferred }) => `${nodes.join("+")}${preferred ? "!" : ""}`);

describe("places for devices", () => {
  const [one, other] = [{ nodes: [0] }, { nodes: [1] }];
  const rows: [what: string, given: HintInput, hints: string[]][] = [
    ["one device on each node", input({ a: one, b: other }), ["0!", "1!", "0+1"]],
    ["two of two nodes", input({ a: one, b: other }, { request: 2 }), ["0+1!"]],
    ["only free ones serve", input({ a: one, b: other }, { available: new Set(["b"]) }), ["1!", "0+1"]],
    [
      "what could serve if it were free makes the rest less than preferred",
      input({ a: one, b: one, c: other, d: other }, { request: 2, available: new Set(["a", "c"]) }),
      ["0+1"],
    ],
    ["a device near both", input({ a: { nodes: [0, 1] } }), ["0!", "1!", "0+1"]],
    [
      "devices of init containers bind the place",
      input({ a: one, b: other }, { reusable: new Set(["b"]), available: new Set(["a"]) }),
      ["1!", "0+1"],
    ],
    ["nodes without devices are left out", input({ a: one }, { numaNodes: [0, 1, 2, 3] }), ["0!"]],
    ["nodes that the machine does not have too", input({ a: one, b: { nodes: [7] } }), ["0!"]],
  ];
  for (const [what, given, hints] of rows) test(what, () => assert.deepEqual(shown(given), hints));
});

test("every place holds enough free devices, and every set with enough is a place", () => {
  fc.assert(
    fc.property(
      fc.array(fc.uniqueArray(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 2 }), {
        minLength: 1,
        maxLength: 8,
      }),
      fc.infiniteStream(fc.boolean()),
      fc.integer({ min: 1, max: 4 }),
      (nodesOf, coin, request) => {
        const all = devices(Object.fromEntries(nodesOf.map((nodes, index) => [`d${index}`, { nodes }])));
        const free = new Set([...all.keys()].filter(() => coin.next().value));
        const near = (ids: Iterable<string>, nodes: readonly number[]): number =>
          [...ids].filter((id) => all.get(id)?.nodes.some((node) => nodes.includes(node))).length;
        const given = {
          devices: all,
          numaNodes: [0, 1, 2, 3, 4],
          available: free,
          reusable: new Set<string>(),
          request,
        };
        const hints = deviceHints(given);
        for (const { nodes } of hints) assert.ok(near(free, nodes) >= request);
        const everywhere = [...new Set(nodesOf.flat())].sort();
        assert.equal(
          hints.some(({ nodes }) => nodes.length === everywhere.length),
          free.size >= request,
        );
        const sizes = new Set(hints.filter(({ preferred }) => preferred).map(({ nodes }) => nodes.length));
        assert.ok(sizes.size <= 1, "preferred places are of one size");
        for (const { nodes, preferred } of hints) {
          if (preferred) assert.ok(hints.every((hint) => hint.nodes.length >= nodes.length));
        }
      },
    ),
    { numRuns: 200 },
  );
});
