import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { chooseDevices, type ChoiceInput } from "../../../../src/main/resources/devices/choose-devices.js";
import { devices } from "./kit.js";

const TWO_NODES = devices({ a: { nodes: [0] }, b: { nodes: [0] }, c: { nodes: [1] }, d: { nodes: [1] }, e: {} });
const input = (fields: Partial<ChoiceInput>): ChoiceInput => ({
  resource: "example.com/gpu",
  required: 1,
  devices: TWO_NODES,
  reusable: [],
  available: ["a", "b", "c", "d", "e"],
  affinity: undefined,
  ...fields,
});

describe("which devices", () => {
  const rows: [what: string, fields: Partial<ChoiceInput>, wish: string[] | undefined, chosen: string[]][] = [
    ["any, in the plugin's order", { required: 2 }, undefined, ["a", "b"]],
    ["what the plugin prefers", { required: 2 }, ["d", "b"], ["d", "b"]],
    ["a preference that is not enough is filled up", { required: 3 }, ["d"], ["d", "a", "b"]],
    ["a preference for what is taken is passed over", { available: ["a", "b"] }, ["d"], ["a"]],
    ["those of init containers first", { required: 2, reusable: ["c"] }, undefined, ["c", "a"]],
    ["init containers' alone", { required: 1, reusable: ["c", "d"] }, ["a"], ["c"]],
    ["near the chosen node", { affinity: [1] }, undefined, ["c"]],
    ["near the chosen node, as preferred", { affinity: [1] }, ["a", "d"], ["d"]],
    ["all near, then others", { required: 3, affinity: [1] }, ["b"], ["c", "d", "b"]],
    ["others before those of no node", { required: 5, affinity: [1] }, undefined, ["c", "d", "a", "b", "e"]],
  ];
  for (const [what, fields, preferred, chosen] of rows) {
    test(what, () => {
      assert.deepEqual(chooseDevices(input(fields)).with(preferred), chosen);
    });
  }
});

test("the plugin receives the devices that must be included", () => {
  const { request } = chooseDevices(input({ required: 3, reusable: ["e"], affinity: [0, 1] }));
  assert.deepEqual(request, { available: ["a", "b", "c", "d", "e"], mustInclude: ["e"], size: 3 });
});

test("too few devices are refused with upstream's text", () => {
  assert.throws(() => chooseDevices(input({ required: 3, available: ["a"], reusable: ["e"] })), {
    message: "requested number of devices unavailable for example.com/gpu. Requested: 2, Available: 1",
  });
});

test("as many devices as requested are chosen, each once and none that is missing, for any preference of the plugin", () => {
  const ids = ["a", "b", "c", "d", "e", "f", "g", "h"];
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 2 }), { minLength: 8, maxLength: 8 }),
      fc.subarray(ids),
      fc.subarray(ids),
      fc.option(fc.subarray([0, 1, 2, 3]), { nil: undefined }),
      fc.option(fc.array(fc.constantFrom(...ids, "stranger")), { nil: undefined }),
      fc.integer({ min: 1, max: 8 }),
      (nodes, free, reusable, affinity, preferred, required) => {
        const all = devices(Object.fromEntries(ids.map((id, index) => [id, { nodes: nodes[index] ?? [] }])));
        const available = free.filter((id) => !reusable.includes(id));
        const choice = { resource: "r", required, devices: all, reusable, available, affinity };
        if (required > available.length + reusable.length) {
          assert.throws(() => chooseDevices(choice), /unavailable/);
          return;
        }
        const chosen = chooseDevices(choice).with(preferred);
        assert.equal(new Set(chosen).size, required);
        assert.ok(chosen.every((id) => available.includes(id) || reusable.includes(id)));
        assert.deepEqual(chosen.slice(0, reusable.length), reusable.slice(0, required));
      },
    ),
    { numRuns: 200 },
  );
});
