// Terminating pods in `nodelet why`: it wins over every other state, and finalizers are explained.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { podState } from "../../../src/cli/pods/state.js";
import { explain } from "../../../src/cli/why/explain.js";
import type { Pod } from "../../../src/shared/kubernetes/api/pod.js";
import { withTerminationMark } from "../../../src/shared/kubernetes/api/termination-mark.js";
import { ago, containerStatus, facts, input, NOW, pod, RUNNING } from "../kit.js";

const running = pod({ phase: "Running", containerStatuses: [containerStatus(RUNNING, { ready: true })] });
const deleted = (one: Pod, metadata: Partial<Pod["metadata"]> = {}): Pod => ({
  ...one,
  metadata: { ...one.metadata, deletionTimestamp: ago(60), ...metadata },
});
const ended = pod({
  phase: "Succeeded",
  containerStatuses: [containerStatus({ terminated: { exitCode: 0 } })],
});
const stopping = { termination: { reason: "removed", deadline: NOW + 30_000 } };

describe("a terminating pod", () => {
  const rows: readonly (readonly [name: string, ...Parameters<typeof input>])[] = [
    ["deleted in the API, running and ready", { pod: deleted(running) }],
    ["marked by the kubelet", { pod: withTerminationMark(running, "stopping") }],
    ["known to main only", { pod: running, facts: facts({ worker: "terminating", ...stopping }) }],
    ["whose containers have completed", { pod: deleted(ended) }],
    [
      "held by a finalizer",
      { pod: withTerminationMark(deleted(ended, { finalizers: ["a/b"] }), "ended"), facts: undefined },
    ],
  ];
  for (const [name, fields] of rows) {
    test(`${name}: the headline says so, and it is not fine`, () => {
      const { verdict, fine } = explain(input(fields), undefined);
      assert.deepEqual([verdict, fine], ["is terminating", false]);
    });
  }

  test("has the state Terminating, as deleted and as marked", () => {
    for (const one of [
      deleted(running),
      withTerminationMark(running, "stopping"),
      withTerminationMark(ended, "ended"),
    ]) {
      assert.deepEqual([podState(one).word, podState(one).fine], ["Terminating", false]);
    }
    assert.equal(podState(running).word, "Running");
  });
});

test("a pod of which only the object is left says which finalizers hold it, and who must remove them", () => {
  const finalizers = ["example.com/backup", "foregroundDeletion", "batch.kubernetes.io/job-tracking", "plain"];
  const held = withTerminationMark(deleted(ended, { finalizers }), "ended");
  const { findings } = explain(input({ pod: held, facts: undefined }), undefined);
  assert.equal(findings.length, 1);
  const [finding] = findings;
  assert.equal(finding?.since, NOW - 60_000);
  assert.match(
    finding.what,
    /nothing of it is left on this node\. Its finalizers hold the object back .*: example\.com\/backup, foregroundDeletion, /,
  );
  assert.deepEqual(finding.help.slice(0, 4), [
    "example.com/backup: the controller that set it, of example.com must remove it; see that it runs, and its log",
    "foregroundDeletion: the garbage collector in kube-controller-manager must remove it; see that it runs, and its log",
    "batch.kubernetes.io/job-tracking: the Job controller in kube-controller-manager must remove it; see that it runs, and its log",
    "plain: the controller that set it must remove it; see that it runs, and its log",
  ]);
  assert.match(finding.help[4] ?? "", /kubectl patch pod web -n default --type merge/);
});
