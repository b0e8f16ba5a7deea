// Resizes that are infeasible, and the order of pending ones.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  beyondNode,
  byTurn,
  infeasible,
  raisesRequests,
  type ResizeRules,
} from "../../../../src/main/resources/allocation/resize-rules.js";
import type { Container, Pod, PodSpec } from "../../../../src/shared/kubernetes/api/pod.js";
import { parseQuantity } from "../../../../src/shared/kubernetes/api/quantity.js";
import { container, pod } from "../../../support/pods.js";
import { defaultResizeRules } from "../../../support/resize-kit.js";

const guaranteed = (cpu: string, memory = "64Mi"): Pod =>
  pod({ containers: [container("app", { resources: { requests: { cpu, memory }, limits: { cpu, memory } } })] });
const burstable = (memory: string, fields: Partial<Container> = {}, spec: Partial<PodSpec> = {}): Pod =>
  pod({ containers: [container("app", { resources: { requests: { memory } }, ...fields })], ...spec });
const restarts = { resizePolicy: [{ resourceName: "memory", restartPolicy: "RestartContainer" }] };
const level = (cpu: string): Pod => burstable("64Mi", {}, { resources: { requests: { cpu } } });

const table: [name: string, from: Pod, to: Pod, rules: Partial<ResizeRules>, detail: string | undefined][] = [
  ["nothing in the way", guaranteed("1"), guaranteed("2"), {}, undefined],
  ["another class", guaranteed("1"), burstable("64Mi"), {}, "qos_class"],
  ["pod level, gate off", level("1"), level("2"), { podLevel: false }, "plr_feature_gate_off"],
  ["pod level, gate on", level("1"), level("2"), {}, undefined],
  ["pod level unchanged, gate off", level("1"), level("1"), { podLevel: false }, undefined],
  ["swap", burstable("64Mi"), burstable("65Mi"), { limitedSwap: true }, "swap_limitation"],
  ["swap, restarted", burstable("64Mi", restarts), burstable("65Mi", restarts), { limitedSwap: true }, undefined],
  ["swap, guaranteed pods have none", guaranteed("1"), guaranteed("1", "65Mi"), { limitedSwap: true }, undefined],
  ["static CPUs", guaranteed("1"), guaranteed("2"), { staticCPUs: true }, "guaranteed_pod_cpu_manager_static_policy"],
  ["static CPUs, memory changes", guaranteed("1"), guaranteed("1", "65Mi"), { staticCPUs: true }, undefined],
  [
    "static CPUs, exclusive gate",
    guaranteed("1"),
    guaranteed("2"),
    { staticCPUs: true, exclusiveCPUs: true },
    undefined,
  ],
  ["static CPUs, burstable", burstable("64Mi"), burstable("65Mi"), { staticCPUs: true, staticMemory: true }, undefined],
  [
    "static memory",
    guaranteed("1"),
    guaranteed("1", "65Mi"),
    { staticMemory: true },
    "guaranteed_pod_memory_manager_static_policy",
  ],
  [
    "static memory, exclusive gate",
    guaranteed("1"),
    guaranteed("1", "65Mi"),
    { staticMemory: true, exclusiveMemory: true },
    undefined,
  ],
];
for (const [name, from, to, rules, detail] of table) {
  test(`infeasible: ${name}`, () => {
    assert.equal(infeasible(to, from, { ...defaultResizeRules, ...rules })?.detail, detail);
  });
}

const NODE = new Map([
  ["cpu", parseQuantity("2")],
  ["memory", parseQuantity("1Gi")],
]);
const beyond: [name: string, pod: Pod, message: string | undefined][] = [
  ["all of it", guaranteed("2", "1Gi"), undefined],
  ["CPU", guaranteed("2001m"), "Node didn't have enough capacity: cpu, requested: 2001, capacity: 2000"],
  [
    "memory is reported first",
    guaranteed("3", "2Gi"),
    "Node didn't have enough capacity: memory, requested: 2147483648, capacity: 1073741824",
  ],
];
for (const [name, desired, message] of beyond) {
  test(`beyond the node: ${name}`, () => {
    assert.equal(beyondNode(desired, NODE)?.message, message);
  });
}

test("more of one resource is a raise, with any change of the other", () => {
  assert.ok(raisesRequests(guaranteed("2", "32Mi"), guaranteed("1", "64Mi")));
  assert.ok(!raisesRequests(guaranteed("1", "32Mi"), guaranteed("1", "64Mi")));
});

test("turns: resizes without an increase, then priority, then Guaranteed, then the longest wait", () => {
  const waiting = (desired: Pod, allocated: Pod, since: number, priority = 0) => ({
    desired: { ...desired, spec: { ...desired.spec, priority } },
    allocated,
    since,
  });
  const shrinks = waiting(burstable("32Mi"), burstable("64Mi"), 9);
  const important = waiting(burstable("65Mi"), burstable("64Mi"), 9, 5);
  const whole = waiting(guaranteed("2"), guaranteed("1"), 9);
  const early = waiting(burstable("65Mi"), burstable("64Mi"), 1);
  const late = waiting(burstable("65Mi"), burstable("64Mi"), 2);
  const expected = [shrinks, important, whole, early, late];
  assert.deepEqual([late, early, whole, important, shrinks].sort(byTurn), expected);
  assert.deepEqual([whole, late, shrinks, early, important].sort(byTurn), expected);
});
