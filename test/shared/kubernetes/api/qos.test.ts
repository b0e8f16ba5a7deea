import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { qosClass } from "../../../../src/shared/kubernetes/api/qos.js";
import { container, pod, sidecar } from "../../../main/resources/pods.js";

const both = { cpu: "100m", memory: "64Mi" };

const table: [name: string, pod: Pod, expected: string][] = [
  ["nothing asked", pod([container("a")]), "BestEffort"],
  ["zero quantities count as nothing", pod([container("a", { cpu: "0" }, { memory: 0 })]), "BestEffort"],
  ["other resources do not count", pod([container("a", { "ephemeral-storage": "1Gi" })]), "BestEffort"],
  ["equal requests and limits", pod([container("a", both, both)]), "Guaranteed"],
  ["equal in another spelling", pod([container("a", { cpu: "0.1", memory: "65536Ki" }, both)]), "Guaranteed"],
  ["a cpu request only", pod([container("a", { cpu: "1" })]), "Burstable"],
  ["limits without requests", pod([container("a", undefined, both)]), "Burstable"],
  ["cpu alone equal", pod([container("a", { cpu: 1 }, { cpu: 1 })]), "Burstable"],
  ["request below limit", pod([container("a", { cpu: "50m", memory: "64Mi" }, both)]), "Burstable"],
  ["differs by one billionth", pod([container("a", { cpu: "100000001n", memory: "64Mi" }, both)]), "Burstable"],
  ["one container without values", pod([container("a", both, both), container("b")]), "Burstable"],
  [
    "init container without values",
    pod([container("a", both, both)], { initContainers: [container("i")] }),
    "Burstable",
  ],
  [
    "guaranteed init and sidecar",
    pod([container("a", both, both)], { initContainers: [container("i", both, both), sidecar("s", both, both)] }),
    "Guaranteed",
  ],
  [
    "an init container alone asks",
    pod([container("a")], { initContainers: [container("i", { cpu: "1m" })] }),
    "Burstable",
  ],
  [
    "ephemeral containers are ignored",
    pod([container("a", both, both)], { ephemeralContainers: [container("e")] }),
    "Guaranteed",
  ],
  [
    "sums are equal though containers differ",
    pod([
      container("a", { cpu: 1, memory: 2 }, { cpu: 2, memory: 2 }),
      container("b", { cpu: 2, memory: 2 }, { cpu: 1, memory: 2 }),
    ]),
    "Guaranteed",
  ],
  [
    "pod level guaranteed, containers silent",
    pod([container("a")], { resources: { requests: both, limits: both } }),
    "Guaranteed",
  ],
  [
    "pod level wins over containers",
    pod([container("a", both, both)], { resources: { requests: { cpu: "1" } } }),
    "Burstable",
  ],
  [
    "pod level of an unsupported resource is none",
    pod([container("a", both, both)], { resources: { requests: { "example.com/x": "1" } } }),
    "Guaranteed",
  ],
];

for (const [name, subject, expected] of table)
  test(`${name}: ${expected}`, () => assert.equal(qosClass(subject), expected));
