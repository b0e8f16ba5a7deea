// The Node as it is first made, and what an existing one is brought in line with.

import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { NodeStatusInit } from "../../../src/shared/contracts/node-status.js";
import type { Node } from "../../../src/shared/kubernetes/api/node.js";
import { newNode, reconciled } from "../../../src/workers/node-status/registration.js";
import { INIT } from "./node-status-kit.js";

const ATTACH = "volumes.kubernetes.io/controller-managed-attach-detach";

test("a new node has its labels, taints, provider id and annotation", () => {
  const node = newNode({
    ...INIT,
    nodeLabels: { "topology.kubernetes.io/zone": "z1", "kubernetes.io/hostname": "other" },
    registerWithTaints: [{ key: "a", value: "b", effect: "NoSchedule" }],
    providerID: "cloud://1",
    externalCloudProvider: true,
  });
  deepEqual(node, {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name: "n1",
      labels: {
        "kubernetes.io/hostname": "other",
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "beta.kubernetes.io/arch": "amd64",
        "topology.kubernetes.io/zone": "z1",
      },
      annotations: { [ATTACH]: "true" },
    },
    spec: {
      taints: [
        { key: "a", value: "b", effect: "NoSchedule" },
        { key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" },
      ],
      providerID: "cloud://1",
    },
  });
});

test("by default it has neither taints nor a provider id", () => deepEqual(newNode(INIT).spec, {}));

type Row = [string, Partial<NodeStatusInit>, Partial<Node["metadata"]>, Partial<Node["metadata"]>];
const OURS = { "kubernetes.io/hostname": "n1", "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64" };
const rows: Row[] = [
  ["its own labels are put right", {}, { labels: { "kubernetes.io/hostname": "x" } }, { labels: OURS }],
  ["labels of others stay", {}, { labels: { ...OURS, role: "db" } }, { labels: { ...OURS, role: "db" } }],
  ["--node-labels are for new nodes", { nodeLabels: { role: "web" } }, { labels: OURS }, { labels: OURS }],
  [
    "but zone and region follow them",
    { nodeLabels: { "topology.kubernetes.io/zone": "z2" } },
    { labels: { ...OURS, "topology.kubernetes.io/zone": "z1" } },
    { labels: { ...OURS, "topology.kubernetes.io/zone": "z2" } },
  ],
  [
    "and go when empty",
    { nodeLabels: { "topology.kubernetes.io/zone": "" } },
    { labels: { ...OURS, "topology.kubernetes.io/zone": "z1" } },
    { labels: OURS },
  ],
  [
    "the attach annotation comes",
    {},
    { labels: OURS, annotations: { a: "b" } },
    { labels: OURS, annotations: { a: "b", [ATTACH]: "true" } },
  ],
  [
    "and goes",
    { enableControllerAttachDetach: false },
    { labels: OURS, annotations: { [ATTACH]: "true" } },
    { labels: OURS, annotations: {} },
  ],
];
for (const [what, init, before, after] of rows) {
  test(`an existing node: ${what}`, () => {
    const { metadata } = reconciled({ metadata: { name: "n1", ...before } }, { ...INIT, ...init }, false);
    deepEqual(metadata.labels, after.labels);
    if (after.annotations !== undefined) deepEqual(metadata.annotations, after.annotations);
  });
}

test("taints and provider id of an existing node are not touched", () => {
  const spec = { taints: [], providerID: "old" };
  const init = { ...INIT, providerID: "new", registerWithTaints: [{ key: "a", value: "", effect: "NoSchedule" }] };
  deepEqual(reconciled({ metadata: { name: "n1" }, spec }, init, true).spec, spec);
});

test("on a machine without a device plugin's checkpoint extended resources begin at none", () => {
  const status = { capacity: { cpu: "2", "example.com/gpu": "4" }, allocatable: { cpu: "2", "example.com/gpu": "4" } };
  const node = { metadata: { name: "n1" }, status };
  deepEqual(reconciled(node, INIT, true).status, {
    capacity: { cpu: "2", "example.com/gpu": "0" },
    allocatable: { cpu: "2", "example.com/gpu": "0" },
  });
  deepEqual(reconciled(node, INIT, false).status, status);
});
