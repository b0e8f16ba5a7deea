// Pods that a list of the runtime leaves out, because their part does not fit into one message.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  Container,
  ContainerState,
  PodSandbox,
  PodSandboxState,
} from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { podUid } from "../../../src/shared/kubernetes/identifiers.js";
import { ListReports, podUidsOf } from "../../../src/workers/pleg/lists.js";
import { Relister } from "../../../src/workers/pleg/relister.js";
import { keptLog } from "../../support/sources-kit.js";
import { SteppedClock } from "../../support/stepped-clock.js";

const labels = (uid: string) => ({ "io.kubernetes.pod.uid": uid });
const sandbox = (uid: string) =>
  PodSandbox.fromPartial({ id: `s-${uid}`, labels: labels(uid), state: PodSandboxState.SANDBOX_READY });
const container = (uid: string) =>
  Container.fromPartial({ id: `c-${uid}`, labels: labels(uid), state: ContainerState.CONTAINER_RUNNING });

test("a pod that is left out is not gone and has not changed, and is compared again when it is listed", async () => {
  const { log, lines } = keptLog();
  const reports = new ListReports(log);
  const shown = { uids: ["a", "b"], containers: ["a", "b"] };
  const relister = new Relister({
    cri: {
      listPodSandbox: () => Promise.resolve({ items: shown.uids.map(sandbox) }),
      listContainers: () => Promise.resolve({ containers: shown.containers.map(container) }),
    },
    clock: new SteppedClock(),
    deadlineMs: 1000,
    leftOut: reports.leftOut,
  });
  assert.deepEqual([...(await relister.relist()).changed.keys()], ["a", "b"]);
  reports.onParts("containers", { parts: true, leftOut: { pods: [podUid("b")], sandboxes: [] } });
  shown.containers = ["a"];
  const without = await relister.relist();
  assert.deepEqual([...without.changed.keys()], []);
  assert.ok(without.pods.has(podUid("b")));
  reports.onParts("containers", { parts: false, leftOut: { pods: [], sandboxes: [] } });
  assert.deepEqual([...(await relister.relist()).changed.keys()], ["b"]);
  assert.equal(lines.length, 2);
});

test("a node without a directory of pods has no UIDs", async () => {
  assert.deepEqual(await podUidsOf("/nonexistent/pods"), []);
});
