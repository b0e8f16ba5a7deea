// Rows of strategic merges: what each directive does, and that a patch applied twice changes nothing more.

import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import type { Fields } from "../../../src/workers/apiserver/objects/object.js";
import { applyJsonPatch } from "../../../src/workers/apiserver/patch/json-patch.js";
import { applyMergePatch } from "../../../src/workers/apiserver/patch/merge-patch.js";
import { applyStrategicMerge } from "../../../src/workers/apiserver/patch/strategic-merge.js";

const ROWS: [what: string, target: Fields, patch: Fields, expected: Fields][] = [
  ["maps are merged, null removes", { a: { b: 1, c: 2 } }, { a: { b: null, d: 3 } }, { a: { c: 2, d: 3 } }],
  ["$patch: replace of a map", { a: { b: 1 } }, { a: { $patch: "replace", c: 2 } }, { a: { c: 2 } }],
  ["$patch: delete of a map", { a: { b: 1 } }, { a: { $patch: "delete" } }, { a: {} }],
  [
    "$retainKeys drops the rest",
    { spec: { volumes: [{ name: "v", emptyDir: {} }] } },
    { spec: { volumes: [{ name: "v", $retainKeys: ["name", "hostPath"], hostPath: { path: "/x" } }] } },
    { spec: { volumes: [{ name: "v", hostPath: { path: "/x" } }] } },
  ],
  [
    "lists within list items",
    { spec: { containers: [{ name: "a", env: [{ name: "X", value: "1" }] }] } },
    {
      spec: {
        containers: [
          {
            name: "a",
            env: [
              { name: "Y", value: "2" },
              { name: "X", $patch: "delete" },
            ],
          },
        ],
      },
    },
    { spec: { containers: [{ name: "a", env: [{ name: "Y", value: "2" }] }] } },
  ],
  [
    "plain lists are replaced",
    { spec: { tolerations: [{ key: "a" }] } },
    { spec: { tolerations: [] } },
    { spec: { tolerations: [] } },
  ],
  [
    "scalars are a set",
    { metadata: { finalizers: ["a", "b"] } },
    { metadata: { "$deleteFromPrimitiveList/finalizers": ["a"], finalizers: ["c"] } },
    { metadata: { finalizers: ["b", "c"] } },
  ],
  [
    "an order alone",
    { status: { conditions: [{ type: "A" }, { type: "B" }] } },
    { status: { "$setElementOrder/conditions": [{ type: "B" }, { type: "A" }] } },
    { status: { conditions: [{ type: "B" }, { type: "A" }] } },
  ],
];

for (const [what, target, patch, expected] of ROWS) {
  it(what, () => assert.deepEqual(applyStrategicMerge("Pod", target, patch), expected));
}

it("a patch applied twice changes nothing more", () => {
  const conditions = fc.uniqueArray(
    fc.record({ type: fc.constantFrom("A", "B", "C", "D"), status: fc.string() }, { noNullPrototype: true }),
    {
      selector: ({ type }) => type,
    },
  );
  fc.assert(
    fc.property(conditions, conditions, (held, wanted) => {
      const order = wanted.map(({ type }) => ({ type }));
      const patch = { status: { conditions: wanted, "$setElementOrder/conditions": order } };
      const once = applyStrategicMerge("Pod", { status: { conditions: held } }, patch);
      assert.deepEqual(applyStrategicMerge("Pod", once, patch), once);
      const merged = (once["status"] as { conditions: { type: string; status: string }[] }).conditions;
      for (const one of wanted)
        assert.deepEqual(
          merged.find(({ type }) => type === one.type),
          one,
        );
      assert.deepEqual(new Set(merged.map(({ type }) => type)), new Set([...held, ...wanted].map(({ type }) => type)));
    }),
    { numRuns: 200 },
  );
});

it("a JSON patch does its operations in order, and a merge patch is no strategic one", () => {
  const patch = [
    { op: "add", path: "/a~1b", value: [1] },
    { op: "add", path: "/a~1b/-", value: 2 },
    { op: "copy", from: "/a~1b", path: "/c" },
    { op: "move", from: "/c", path: "/d" },
    { op: "replace", path: "/d/0", value: 9 },
    { op: "remove", path: "/a~1b/1" },
  ];
  assert.deepEqual(applyJsonPatch({}, patch), { "a/b": [1], d: [9, 2] });
  assert.throws(() => applyJsonPatch({}, [{ op: "remove", path: "/no" }]), /the server rejected our request/);
  assert.deepEqual(applyMergePatch({ a: [1, 2], b: { c: 1 } }, { a: [3], b: { c: null } }), { a: [3], b: {} });
});
