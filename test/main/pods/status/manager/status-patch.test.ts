// The patch that makes the server's status ours: nothing too much, nothing left over.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { shownStatus } from "../../../../../src/main/pods/status/manager/shown-status.js";
import { statusPatch } from "../../../../../src/main/pods/status/manager/status-patch.js";
import { PODS } from "../../../../../src/shared/kubernetes/api/client/kinds.js";
import type {
  ApiContainerStatus,
  PodCondition,
  PodStatus,
} from "../../../../../src/shared/kubernetes/api/pod-status.js";
import { MemoryApi } from "../../../../support/memory-api.js";
import { pod } from "../../../../support/pods.js";

const T1 = "2026-01-01T00:00:00Z";
const T2 = "2026-01-01T00:01:00Z";

function condition(
  type: string,
  status: PodCondition["status"],
  at = T1,
  rest: Partial<PodCondition> = {},
): PodCondition {
  return { type, status, lastProbeTime: null, lastTransitionTime: at, ...rest };
}
function container(name: string, ready: boolean): ApiContainerStatus {
  return { name, ready, state: {}, lastState: {}, restartCount: 0, image: "", imageID: "" };
}

test("equal fields are not sent", () => {
  const status: PodStatus = {
    phase: "Running",
    podIPs: [{ ip: "10.0.0.1" }],
    conditions: [condition("Ready", "True")],
  };
  assert.equal(statusPatch(structuredClone(status), status), undefined);
  const loose: PodStatus = { phase: "Running", message: "", conditions: [{ type: "Ready", status: "True" }] };
  assert.equal(
    statusPatch({ phase: "Running", conditions: [condition("Ready", "True", undefined)] }, loose) === undefined,
    false,
  );
});

test("lists are merged by their keys, and removed fields are deleted", () => {
  const base: PodStatus = {
    phase: "Pending",
    reason: "Odd",
    podIPs: [{ ip: "10.0.0.1" }],
    conditions: [condition("Ready", "False", T1, { reason: "Why" }), condition("PodResizePending", "True")],
  };
  const ours: PodStatus = {
    phase: "Running",
    podIPs: [{ ip: "10.0.0.2" }],
    conditions: [condition("Ready", "True", T2), condition("Initialized", "True")],
  };
  assert.deepEqual(statusPatch(base, ours), {
    phase: "Running",
    reason: null,
    conditions: [
      { type: "Ready", status: "True", lastTransitionTime: T2, reason: null },
      condition("Initialized", "True"),
      { $patch: "delete", type: "PodResizePending" },
    ],
    "$setElementOrder/conditions": [{ type: "Ready" }, { type: "Initialized" }],
    podIPs: [{ ip: "10.0.0.2" }, { $patch: "delete", ip: "10.0.0.1" }],
    "$setElementOrder/podIPs": [{ ip: "10.0.0.2" }],
  });
});

test("the server's own form of a value is no difference to send again", () => {
  const sent: PodStatus = {
    phase: "Running",
    containerStatuses: [{ ...container("a", true), allocatedResources: { cpu: "0.1" } }],
  };
  const got: PodStatus = {
    phase: "Running",
    containerStatuses: [{ ...container("a", true), allocatedResources: { cpu: "100m" } }],
  };
  assert.notEqual(statusPatch(got, sent), undefined);
  assert.equal(statusPatch(got, sent, { sent, got }), undefined);
  const others: PodStatus = { ...got, containerStatuses: [container("a", false)] };
  assert.deepEqual(Object.keys(statusPatch(others, sent, { sent, got }) ?? {}), ["containerStatuses"]);
});

test("the shown status keeps others' conditions, the time of a change, the start, and a verdict", () => {
  const api: PodStatus = {
    phase: "Failed",
    reason: "Evicted",
    startTime: T1,
    qosClass: "Burstable",
    conditions: [condition("PodScheduled", "True", T1), condition("example.com/gate", "True", T1)],
  };
  const computed: PodStatus = {
    phase: "Running",
    startTime: T2,
    qosClass: "BestEffort",
    conditions: [
      condition("PodScheduled", "True", T2),
      condition("Ready", "False", T2),
      condition("example.com/gate", "False"),
    ],
  };
  assert.deepEqual(shownStatus(computed, api, true), {
    phase: "Failed",
    reason: "Evicted",
    startTime: T1,
    qosClass: "Burstable",
    conditions: [
      condition("PodScheduled", "True", T1),
      condition("Ready", "False", T2),
      condition("example.com/gate", "True", T1),
    ],
  });
  assert.equal(shownStatus(computed, api, false).phase, "Running", "a static pod may run again");
});

test("property: a patched status is ours, and then there is nothing left to patch", async () => {
  const types = ["Ready", "Initialized", "PodResizePending", "example.com/gate"];
  const conditions = fc.uniqueArray(
    fc.record({
      type: fc.constantFrom(...types),
      status: fc.constantFrom<PodCondition["status"]>("True", "False"),
      lastTransitionTime: fc.constantFrom(T1, T2),
      lastProbeTime: fc.constant(null),
    }),
    { selector: ({ type }) => type },
  );
  const ips = fc.uniqueArray(fc.record({ ip: fc.constantFrom("10.0.0.1", "10.0.0.2", "fd00::1") }), {
    selector: ({ ip }) => ip,
  });
  const status: fc.Arbitrary<PodStatus> = fc.record(
    {
      phase: fc.constantFrom<PodStatus["phase"]>("Pending", "Running", "Failed"),
      reason: fc.constantFrom("A", "B"),
      conditions,
      podIPs: ips,
      containerStatuses: fc.array(
        fc.boolean().map((ready) => container("a", ready)),
        { maxLength: 2 },
      ),
    },
    { requiredKeys: ["phase"] },
  );
  await fc.assert(
    fc.asyncProperty(status, status, async (base, ours) => {
      const api = new MemoryApi();
      api.put({ ...pod(), status: base });
      const patch = statusPatch(base, ours);
      if (patch === undefined) return;
      const ref = { namespace: "default", name: "web" };
      const { status: now } = await api.client.patch(PODS, ref, { status: patch }, { subresource: "status" });
      assert.equal(now === undefined ? "none" : statusPatch(now, ours), undefined);
      // Their order alone is no reason to patch.
      const kinds = (of: PodStatus | undefined): string[] =>
        (of?.conditions ?? []).map((one) => `${one.type}=${one.status}`).sort();
      assert.deepEqual(kinds(now), kinds(ours));
    }),
    { numRuns: 200 },
  );
});

test("resources of a pod: absent values are removed, and others are kept", () => {
  const base: PodStatus = {
    phase: "Running",
    resources: { limits: { cpu: "1", memory: "1Gi" }, requests: { cpu: "1" } },
    allocatedResources: { cpu: "1" },
  };
  const ours: PodStatus = { phase: "Running", resources: { limits: { cpu: "2" } } };
  assert.deepEqual(statusPatch(base, ours), {
    resources: { limits: { cpu: "2", memory: null }, requests: null },
    allocatedResources: null,
  });
  assert.deepEqual(statusPatch({ phase: "Running" }, base), {
    resources: base.resources,
    allocatedResources: base.allocatedResources,
  });
  assert.equal(statusPatch(base, structuredClone(base)), undefined);
});
