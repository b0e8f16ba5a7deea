// CPU and memory apart from a definition: their difference, their union, and their return into a pod.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  changedResources,
  largestResources,
  resourcesOf,
  sameResources,
  withResources,
} from "../../../src/main/model/pod-resources.js";
import type { ResourceRequirements } from "../../../src/shared/kubernetes/api/pod.js";
import { container, pod } from "../../support/pods.js";

const small = { requests: { cpu: "100m", memory: "64Mi" }, limits: { cpu: "200m", memory: "64Mi" } };

const changes: [name: string, before: ResourceRequirements, after: ResourceRequirements, expected: string[]][] = [
  ["nothing", small, small, []],
  ["another spelling", { requests: { cpu: "0.1" } }, { requests: { cpu: "100m" } }, []],
  ["a request", { requests: { cpu: "100m" } }, { requests: { cpu: "101m" } }, ["cpu"]],
  ["a limit", { limits: { memory: "64Mi" } }, { limits: { memory: "65Mi" } }, ["memory"]],
  ["both", small, {}, ["cpu", "memory"]],
  ["a limit that was not there", {}, { limits: { cpu: "0" } }, ["cpu"]],
  ["what can't be resized", { limits: { "hugepages-2Mi": "2Mi" } }, {}, []],
];
for (const [name, before, after, expected] of changes) {
  test(`changes: ${name}`, () => {
    assert.deepEqual(changedResources(before, after), expected);
    assert.deepEqual(changedResources(after, before), expected);
  });
}

test("a pod gets back the values that were taken of it, and keeps resources that cannot be resized", () => {
  const device = { "example.com/gpu": "1" };
  const before = pod({
    containers: [container("a", { resources: { ...small, limits: { ...small.limits, ...device } } }), container("b")],
    initContainers: [container("i", { resources: { requests: { cpu: "1" } } })],
    resources: { requests: { cpu: "2" } },
  });
  const desired = pod({
    containers: [
      container("a", { resources: { limits: { cpu: "9", ...device } } }),
      container("b", { resources: small }),
    ],
    initContainers: [container("i", { resources: { requests: { cpu: "3" } } })],
    resources: { limits: { memory: "1Gi" } },
  });
  const held = withResources(desired, resourcesOf(before));
  assert.ok(sameResources(resourcesOf(held), resourcesOf(before)));
  assert.equal(held.spec.containers[0]?.resources?.limits?.["example.com/gpu"], "1");
  assert.equal(withResources(before, resourcesOf(before)), before, "the same object when nothing differs");
});

test("changed and removed pod-level resources are held back, too", () => {
  const without = pod();
  const level = pod({ resources: { limits: { cpu: "1" } } });
  assert.ok(
    sameResources(resourcesOf(withResources(level, resourcesOf(without))), resourcesOf(pod({ resources: {} }))),
  );
  assert.deepEqual(withResources(without, resourcesOf(level)).spec.resources, { limits: { cpu: "1" } });
});

test("a container that the allocation does not name is as it is defined", () => {
  const more = pod({ containers: [container("app"), container("new", { resources: small })] });
  assert.deepEqual(withResources(more, resourcesOf(pod())).spec.containers[1]?.resources, small);
});

test("the larger of both: requests by amount, limits only where both have one", () => {
  const one = { containers: { a: { requests: { cpu: "100m", memory: "1Gi" }, limits: { cpu: "1", memory: "1Gi" } } } };
  const other = { containers: { a: { requests: { cpu: "200m" }, limits: { memory: "2Gi" } }, b: small } };
  const expected = {
    a: { requests: { cpu: "200m", memory: "1Gi" }, limits: { memory: "2Gi" } },
    b: small,
  };
  assert.deepEqual(largestResources(one, other).containers, expected);
  assert.deepEqual(largestResources(other, one).containers, expected);
});
