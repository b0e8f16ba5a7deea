// A pod whose resize waits must start after a reboot with its allocated resources. The desired ones do not fit.
// @promise Resources of the node: After a reboot a pod with a pending resize is admitted with its allocated resources,
//   not with its desired ones.
// @with test/main/resources/allocation/allocations.test.ts

import assert from "node:assert/strict";
import { cpus } from "node:os";
import { test } from "node:test";
import { startNode, type PodView } from "../harness/node.js";
import { ageRecords } from "../support/earlier-boot.js";
import { conditionsOf, IDLE, manifest, shell, waitForPod } from "../support/static-pods.js";

const isWaiting = (view: PodView): boolean => (conditionsOf(view)["PodResizePending"] ?? "False") === "True";
const pod = (name: string, milli: number) => {
  const resources = { requests: { cpu: `${milli}m` } };
  return manifest(name, [shell("app", IDLE, { resources })], { metadata: { uid: `reboot-${name}` } });
};

test("a pod whose resize is deferred is admitted after a reboot with its allocation", async (t) => {
  const node = await startNode();
  t.after(() => node.stop());
  const large = cpus().length * 1000 - 700;
  const runs = (view: PodView): boolean => view.status?.phase === "Running";
  await node.writeManifest("waits", pod("waits", 50));
  await waitForPod(node, "waits", runs, "running");
  await node.writeManifest("large", pod("large", large));
  await waitForPod(node, "large", runs, "running");
  await node.writeManifest("waits", pod("waits", 750));
  await waitForPod(node, "waits", isWaiting, "deferred");
  await node.kill9();
  await ageRecords(node.kubelet.rootDir);
  await node.restart();
  // The kubelet starts the containers of an earlier boot again: a pod is Pending until they run.
  const decided = (view: PodView): boolean =>
    view.status?.phase === "Failed" || (view.status?.phase === "Running" && isWaiting(view));
  const again = await waitForPod(node, "waits", decided, "deferred again");
  assert.equal(again.status?.phase, "Running", again.status?.message);
  const settled = (view: PodView): boolean => view.status?.phase === "Failed" || view.status?.phase === "Running";
  const other = await waitForPod(node, "large", settled, "running again");
  assert.equal(other.status?.phase, "Running", other.status?.message);
});
