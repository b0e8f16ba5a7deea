// The condition KubeletConfigOk and the annotation with the status, as a table.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CONFIG_STATUS_ANNOTATION, type NodeConfigReport } from "../../../src/shared/kubernetes/api/config-source.js";
import type { Node, NodeCondition } from "../../../src/shared/kubernetes/api/node.js";
import { withConfigReport } from "../../../src/workers/node-status/config-report.js";

const NOW = "2026-01-01T00:01:00Z";
const BEFORE = "2026-01-01T00:00:00Z";
const map = { namespace: "kube-system", name: "workers", kubeletConfigKey: "kubelet", uid: "u1", resourceVersion: "7" };
const LINK = "/api/v1/namespaces/kube-system/configmaps/workers";
const ready = { type: "Ready", status: "True" } as const;
const bare: Node = { metadata: { name: "n1", annotations: { other: "x" } }, status: { conditions: [ready] } };

const conditionOf = ({ status }: Node): NodeCondition | undefined =>
  status?.conditions?.find(({ type }) => type === "KubeletConfigOk");
const annotationOf = ({ metadata }: Node): string => metadata.annotations?.[CONFIG_STATUS_ANNOTATION] ?? "";

const CASES: [name: string, report: NodeConfigReport, want: [string, string, string], annotation: object][] = [
  [
    "own files",
    { activeIsGood: false },
    ["True", "when the config source is nil, the Kubelet uses its local config", "using current: local"],
    {},
  ],
  [
    "an assigned ConfigMap",
    { assigned: map, active: map, activeIsGood: false },
    ["True", "passing all checks", `using current: ${LINK}`],
    { assigned: { configMap: map }, active: { configMap: map } },
  ],
  [
    "rolled back",
    { assigned: map, lastKnownGood: map, active: map, activeIsGood: true, error: "it crashed" },
    ["False", "failed to sync, see the message", `using last-known-good: ${LINK}; it crashed`],
    {
      assigned: { configMap: map },
      active: { configMap: map },
      lastKnownGood: { configMap: map },
      error: "it crashed",
    },
  ],
  [
    "refused, with nothing proven yet",
    { activeIsGood: false, error: "bad" },
    ["False", "failed to sync, see the message", "using current: local; bad"],
    { error: "bad" },
  ],
];
for (const [name, report, [status, reason, message], annotation] of CASES) {
  test(name, () => {
    const node = withConfigReport(bare, report, NOW);
    const conditions = node.status?.conditions ?? [];
    assert.deepEqual(conditions[0], ready);
    assert.deepEqual(conditions[1], {
      type: "KubeletConfigOk",
      status,
      reason,
      message,
      lastHeartbeatTime: NOW,
      lastTransitionTime: NOW,
    });
    assert.equal(node.metadata.annotations?.["other"], "x");
    assert.deepEqual(JSON.parse(annotationOf(node)), annotation);
  });
}

test("the time of the transition changes with the status only", () => {
  const first = withConfigReport(bare, { activeIsGood: false }, BEFORE);
  const second = withConfigReport(first, { assigned: map, active: map, activeIsGood: false }, NOW);
  assert.equal(conditionOf(second)?.lastTransitionTime, BEFORE);
  assert.equal(second.status?.conditions?.length, 2);
  const third = withConfigReport(second, { activeIsGood: false, error: "x" }, NOW);
  assert.equal(conditionOf(third)?.lastTransitionTime, NOW);
});

test("without dynamic configuration an earlier kubelet's condition and annotation go, and all else stays", () => {
  const left = withConfigReport(bare, { activeIsGood: false }, BEFORE);
  assert.deepEqual(withConfigReport(left, undefined, NOW), bare);
  assert.equal(withConfigReport(bare, undefined, NOW), bare);
});

test("an error of any length is bounded", () => {
  const node = withConfigReport(bare, { activeIsGood: false, error: "x".repeat(1_000_000) }, NOW);
  assert.ok((conditionOf(node)?.message ?? "").length < 5000);
  assert.ok(annotationOf(node).length < 5000);
});
