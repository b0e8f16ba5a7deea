import assert from "node:assert/strict";
import { test } from "node:test";
import { isCriticalPod, oomScoreAdj } from "../../../src/main/resources/oom-score.js";
import type { Container, Pod } from "../../../src/shared/kubernetes/api/pod.js";
import { container, pod, sidecar } from "./pods.js";

const NODE = 4n * 1024n ** 3n;
const both = { cpu: "1", memory: "1Gi" };
const burst = container("a", { memory: "1Gi" });
const big = container("big", { memory: "3Gi" });
const smallSidecar = sidecar("s", { memory: "1Mi" });
const critical: Pod = pod([container("a")], { priority: 2_000_001_000, priorityClassName: "system-node-critical" });

const table: [name: string, pod: Pod, container: Container, expected: number][] = [
  ["best effort", pod([container("a")]), container("a"), 1000],
  ["guaranteed", pod([container("a", both, both)]), container("a", both, both), -997],
  ["burstable, a quarter of the node", pod([burst]), burst, 750],
  ["burstable without a memory request", pod([container("a", { cpu: 1 })]), container("a", { cpu: 1 }), 999],
  ["burstable, all of the node", pod([container("a", { memory: "4Gi" })]), container("a", { memory: "4Gi" }), 3],
  ["burstable, more than the node", pod([container("a", { memory: "9Gi" })]), container("a", { memory: "9Gi" }), 3],
  ["sidecar as safe as the regular container", pod([big], { initContainers: [smallSidecar] }), smallSidecar, 250],
  [
    "sidecar asking more keeps its own",
    pod([burst], { initContainers: [sidecar("s", { memory: "2Gi" })] }),
    sidecar("s", { memory: "2Gi" }),
    500,
  ],
  [
    "plain init container has its own",
    pod([big], { initContainers: [container("i", { memory: "1Gi" })] }),
    container("i", { memory: "1Gi" }),
    750,
  ],
  [
    "pod-level surplus is shared out",
    pod([container("a", { memory: "1Gi" }), container("b", { memory: "1Gi" })], {
      resources: { requests: { memory: "3Gi" } },
    }),
    container("a", { memory: "1Gi" }),
    625,
  ],
  [
    "a sidecar's regular containers have the surplus too",
    pod([container("a", { memory: "1Gi" })], {
      initContainers: [smallSidecar],
      resources: { requests: { memory: "2049Mi" } },
    }),
    smallSidecar,
    625,
  ],
  ["node critical", critical, container("a"), -997],
  [
    "critical for the cluster only",
    pod([container("a")], { priority: 2_000_000_000, priorityClassName: "system-cluster-critical" }),
    container("a"),
    1000,
  ],
  [
    "the class name without the priority",
    pod([container("a")], { priorityClassName: "system-node-critical" }),
    container("a"),
    1000,
  ],
];

for (const [name, subject, of, expected] of table)
  test(name, () => assert.equal(oomScoreAdj(subject, of, NODE), expected));

test("static and mirror pods are critical, API pods of low priority are not", () => {
  const withAnnotation = (key: string, value: string): Pod => {
    const subject = pod([container("a")]);
    return { ...subject, metadata: { ...subject.metadata, annotations: { [key]: value } } };
  };
  assert.ok(isCriticalPod(withAnnotation("kubernetes.io/config.source", "file")));
  assert.ok(isCriticalPod(withAnnotation("kubernetes.io/config.mirror", "hash")));
  assert.ok(!isCriticalPod(withAnnotation("kubernetes.io/config.source", "api")));
  assert.ok(isCriticalPod(pod([container("a")], { priority: 2_000_000_000 })));
  assert.ok(!isCriticalPod(pod([container("a")], { priority: 1_999_999_999 })));
});
