// The node as admission sees it: the machine's word, and the API server's.

import assert from "node:assert/strict";
import { test } from "node:test";
import { NodeAdmission } from "../../../../src/main/pods/admission/node-admission.js";
import { withNodeObject } from "../../../../src/main/pods/admission/node-from-api.js";
import { parseQuantity } from "../../../../src/shared/kubernetes/api/quantity.js";
import { noEvents } from "../../../support/silent.js";
import { keptLog } from "../../../support/sources-kit.js";
import { admissionNode, alone, apiPod } from "./kit.js";

const known = {
  labels: { own: "1" },
  taints: [{ key: "given", effect: "NoSchedule" }],
  allocatable: new Map([
    ["cpu", parseQuantity("2")],
    ["pods", parseQuantity("110")],
  ]),
  name: "n1",
};

test("the machine's labels count before the Node object is seen", () => {
  assert.equal(withNodeObject(known, undefined), known);
});

test("labels and taints are the cluster's, amounts where it has them", () => {
  const seen = withNodeObject(known, {
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
  assert.deepEqual(withNodeObject(known, { metadata: { name: "n1" } }).taints, [], "a taint that was taken off");
});

test("a pod that was sent here by newer labels than are known gets a second look, others do not", async () => {
  let fresh = 0;
  const labels = { zone: "b" };
  const admission = new NodeAdmission({
    apiStatus: () => undefined,
    node: () => Promise.resolve(admissionNode()),
    freshNode: () => {
      fresh++;
      return Promise.resolve(admissionNode({ labels }));
    },
    events: noEvents,
    log: keptLog().log,
    fail: () => Promise.resolve(),
    counters: { rejected: () => undefined, preempted: () => undefined },
  });
  const { signal } = new AbortController();
  const admits = async (zone: string, uid: string): Promise<boolean> => {
    const asking = apiPod({ nodeSelector: { zone } }, uid);
    return (await admission.admit(asking, signal, alone)).admit;
  };
  assert.equal(await admits("a", "one"), true);
  assert.equal(fresh, 0);
  assert.equal(await admits("b", "two"), true);
  assert.equal(await admits("c", "three"), false);
  assert.equal(fresh, 2);
});
