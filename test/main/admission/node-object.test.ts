import assert from "node:assert/strict";
import { test } from "node:test";
import { withNodeObject } from "../../../src/main/admission/node-object.js";
import { parseQuantity } from "../../../src/shared/api/quantity.js";

const standing = {
  labels: { own: "1" },
  taints: [{ key: "given", effect: "NoSchedule" }],
  allocatable: new Map([
    ["cpu", parseQuantity("2")],
    ["pods", parseQuantity("110")],
  ]),
  name: "n1",
};

test("before the object is seen the machine speaks", () => {
  assert.equal(withNodeObject(standing, undefined), standing);
});

test("labels and taints are the cluster's, amounts where it has them", () => {
  const seen = withNodeObject(standing, {
    metadata: { name: "n1", labels: { zone: "a" } },
    spec: { taints: [{ key: "drain", effect: "NoExecute" }] },
    status: { allocatable: { cpu: "1500m", "example.com/gpu": "2" } },
  });
  assert.deepEqual(seen.labels, { zone: "a" });
  assert.deepEqual(seen.taints, [{ key: "drain", effect: "NoExecute" }]);
  assert.equal(seen.name, "n1");
  assert.deepEqual(
    [...seen.allocatable].map(([name, { nanos }]) => [name, nanos]),
    [
      ["cpu", 1_500_000_000n],
      ["pods", 110_000_000_000n],
      ["example.com/gpu", 2_000_000_000n],
    ],
  );
  assert.deepEqual(withNodeObject(standing, { metadata: { name: "n1" } }).taints, [], "a taint that was taken off");
});
