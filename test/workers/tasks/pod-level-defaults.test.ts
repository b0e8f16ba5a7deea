// Requests that a pod with pod-level limits leaves open: those of its containers together, or else its limits.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Container, ResourceList, ResourceRequirements } from "../../../src/shared/kubernetes/api/pod.js";
import { withPodDefaults } from "../../../src/workers/tasks/manifest/defaults.js";
import { container, pod } from "../../support/pods.js";

const asks = (name: string, requests: ResourceList, fields: Partial<Container> = {}): Container =>
  container(name, { resources: { requests }, ...fields });
const limits = { cpu: "2", memory: "1Gi" };
const two = [asks("a", { cpu: "100m" }), asks("b", { cpu: "200m" })];

const table: [name: string, spec: Parameters<typeof pod>[0], expected: ResourceRequirements["requests"]][] = [
  ["what containers ask for, and the limit for the rest", { containers: two }, { cpu: "300m", memory: "1Gi" }],
  ["nobody asks", { containers: [container("a")] }, limits],
  [
    "a container's limit is its request",
    { containers: [container("a", { resources: { limits: { memory: "64Mi" } } })] },
    { cpu: "2", memory: "64Mi" },
  ],
  [
    "init containers and sidecars count as they run",
    {
      containers: two,
      initContainers: [asks("s", { cpu: "50m" }, { restartPolicy: "Always" }), asks("i", { cpu: "1" })],
    },
    { cpu: "1050m", memory: "1Gi" },
  ],
];
for (const [name, spec, expected] of table) {
  test(name, () => {
    const made = withPodDefaults(pod({ ...spec, resources: { limits } }));
    assert.deepEqual(made.spec.resources, { limits, requests: expected });
  });
}

test("given values stay; without limits nothing is added", () => {
  const given = { limits, requests: { cpu: "1500m", memory: "1Mi" } };
  assert.deepEqual(withPodDefaults(pod({ containers: two, resources: given })).spec.resources, given);
  const requests = { cpu: "1" };
  assert.deepEqual(withPodDefaults(pod({ containers: two, resources: { requests } })).spec.resources, { requests });
});

describe("huge pages of the containers are the limit of a pod with pod-level resources that names none of the size", () => {
  const pages = { "hugepages-2Mi": "4Mi" };
  const containers = [
    container("a", { resources: { limits: pages } }),
    container("b", { resources: { limits: pages } }),
  ];
  const rows: [what: string, given: ResourceRequirements, limits: ResourceList | undefined][] = [
    ["limits", { limits }, { ...limits, "hugepages-2Mi": "8Mi" }],
    ["requests", { requests: { cpu: "1" } }, { "hugepages-2Mi": "8Mi" }],
    ["nothing", {}, undefined],
    ["a limit of that size", { limits: { "hugepages-2Mi": "10Mi" } }, { "hugepages-2Mi": "10Mi" }],
    ["a request of that size", { requests: { "hugepages-2Mi": "8Mi" } }, undefined],
  ];
  for (const [what, given, expected] of rows) {
    test(`pod-level: ${what}`, () => {
      const { resources } = withPodDefaults(pod({ containers, resources: given })).spec;
      assert.deepEqual(resources?.limits, expected);
      if (expected !== undefined) assert.equal(resources?.requests?.["hugepages-2Mi"], expected["hugepages-2Mi"]);
    });
  }
});
