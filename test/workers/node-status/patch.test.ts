// Patches of the Node's status: what differs and nothing else, in a form that a server can merge.

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Node, NodeStatus } from "../../../src/shared/kubernetes/api/node.js";
import { nodeChanged, nodePatch } from "../../../src/workers/node-status/patch.js";
import { mergePatch } from "./memory-api.js";

const T0 = "2026-11-21T18:00:00Z";
const T1 = "2026-11-21T18:00:10Z";
const ready = { type: "Ready", status: "True", lastHeartbeatTime: T0, lastTransitionTime: T0 } as const;
const node = (status: NodeStatus, metadata: Partial<Node["metadata"]> = {}): Node => ({
  metadata: { name: "n1", ...metadata },
  status,
});

const rows: [string, Node, Node, boolean, unknown][] = [
  ["nothing", node({ phase: "x" }), node({ phase: "x" }), false, undefined],
  [
    "a heartbeat alone is worth no report, but part of one",
    node({ conditions: [ready] }),
    node({ conditions: [{ ...ready, lastHeartbeatTime: T1 }] }),
    false,
    { status: { conditions: [{ ...ready, lastHeartbeatTime: T1 }] } },
  ],
  [
    "only the condition that changed",
    node({ conditions: [{ ...ready, type: "Other" }, ready] }),
    node({
      conditions: [
        { ...ready, type: "Other" },
        { ...ready, status: "False" },
      ],
    }),
    true,
    { status: { conditions: [{ ...ready, status: "False" }] } },
  ],
  [
    "amounts in another form are the same",
    node({ capacity: { cpu: "2", memory: "1048576Ki" } }),
    node({ capacity: { memory: "1Gi", cpu: "2000m" } }),
    false,
    undefined,
  ],
  [
    "amounts that differ, came and went",
    node({ capacity: { cpu: "2", "hugepages-2Mi": "0" } }),
    node({ capacity: { cpu: "4", pods: "110" } }),
    true,
    { status: { capacity: { cpu: "4", pods: "110", "hugepages-2Mi": null } } },
  ],
  [
    "addresses are replaced whole",
    node({ addresses: [{ type: "InternalIP", address: "10.0.0.4" }] }),
    node({ addresses: [{ type: "InternalIP", address: "10.0.0.5" }] }),
    true,
    { status: { addresses: [{ type: "InternalIP", address: "10.0.0.5" }, { $patch: "replace" }] } },
  ],
  ["an empty list is none", node({}), node({ volumesInUse: [], images: [] }), false, undefined],
  [
    "the last of a list goes",
    node({ volumesInUse: ["a"] }),
    node({ volumesInUse: [] }),
    true,
    { status: { volumesInUse: [] } },
  ],
  [
    "labels and annotations",
    node({}, { labels: { a: "1", b: "2" }, annotations: { x: "y" } }),
    node({}, { labels: { a: "1", b: "3" }, annotations: {} }),
    true,
    { metadata: { labels: { b: "3" }, annotations: { x: null } } },
  ],
  [
    "a condition that goes",
    node({
      conditions: [
        { type: "Ready", status: "True" },
        { type: "KubeletConfigOk", status: "True" },
      ],
    }),
    node({ conditions: [{ type: "Ready", status: "True" }] }),
    true,
    { status: { conditions: [{ type: "KubeletConfigOk", $patch: "delete" }] } },
  ],
  [
    "a member within nodeInfo",
    node({ nodeInfo: { bootID: "1", kernelVersion: "k" } as NonNullable<NodeStatus["nodeInfo"]> }),
    node({ nodeInfo: { bootID: "2", kernelVersion: "k" } as NonNullable<NodeStatus["nodeInfo"]> }),
    true,
    { status: { nodeInfo: { bootID: "2" } } },
  ],
  ["a field that is gone", node({ declaredFeatures: ["A"] }), node({}), true, { status: { declaredFeatures: null } }],
];
for (const [what, before, after, changed, patch] of rows) {
  test(what, () => {
    equal(nodeChanged(before, after), changed);
    deepEqual(nodePatch(before, after), patch);
  });
}

test("a change of spec is never sent: a status patch could not make it", () => {
  const before = node({});
  equal(nodePatch(before, { ...before, spec: { unschedulable: true } }), undefined);
});

const amounts = fc.dictionary(
  fc.constantFrom("cpu", "memory", "example.com/gpu"),
  fc.constantFrom("1", "2", "3Gi", "100m"),
);
const conditions = fc.uniqueArray(
  fc.record({
    type: fc.constantFrom("Ready", "MemoryPressure", "NetworkUnavailable"),
    status: fc.constantFrom("True" as const, "False" as const),
    reason: fc.constantFrom("A", "B"),
  }),
  { selector: ({ type }) => type },
);
const status = fc.record({
  capacity: amounts,
  conditions,
  addresses: fc.array(
    fc.record({
      type: fc.constantFrom("InternalIP" as const, "Hostname" as const),
      address: fc.constantFrom("a", "b"),
    }),
  ),
  volumesInUse: fc.array(fc.constantFrom("v1", "v2")),
  images: fc.array(fc.record({ names: fc.array(fc.constantFrom("i1", "i2")) })),
});

test("property: the patch turns the present Node into the wanted one, and then there is nothing to patch", () => {
  fc.assert(
    fc.property(status, status, amounts, amounts, (a, b, labelsA, labelsB) => {
      const before = node(a, { labels: labelsA });
      // Conditions are never taken away by the kubelet.
      const kept = a.conditions.filter(({ type }) => !b.conditions.some((other) => other.type === type));
      const after = node({ ...b, conditions: [...kept, ...b.conditions] }, { labels: labelsB });
      const merged = mergePatch(before, nodePatch(before, after) ?? {}) as unknown as Node;
      equal(nodeChanged(after, merged), false);
      equal(nodePatch(merged, after), undefined);
    }),
  );
});
