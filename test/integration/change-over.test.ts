// A node changes from another kubelet to this one while its static pods run. They keep their UIDs, so nothing restarts.
// This kubelet plays the other one, with the pod's UID in the manifest. It leaves the same state in the runtime and on
// disk.
// @headline Pods | Pods of upstream's kubelet run on here. | no restart
// @promise Cluster: Static pods of another kubelet keep their UID and containers when the node changes to this one.
//   Volumes that the other kubelet mounted are unmounted with their pod.
// @with test/main/pods/sources/static-pod-uids.test.ts, test/main/volumes/reconcile.test.ts

import assert from "node:assert/strict";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { nodeForTests } from "../support/node-for-tests.js";
import { conditionsOf, IDLE, manifest, podOf, shell, waitForPod } from "../support/static-pods.js";

const UID = "5c1f0e6a4d8b4f0c9a7e3b2d1f6a8c90";
const POD = manifest("etcd", [shell("app", IDLE)], {
  metadata: { labels: { tier: "control-plane" }, annotations: { owner: "kubeadm" } },
});

const { node, runtime } = await nodeForTests();

test("a static pod of another kubelet keeps its UID and containers, over restarts and until its manifest changes", async () => {
  const { manifests, dir } = node.kubelet;
  // The manifest is older than its pod, as on any node. The whole folder is replaced, because a rename of the file
  // would make it new.
  const next = join(dir, "next");
  await mkdir(next);
  await writeFile(join(next, "etcd.yaml"), JSON.stringify(POD));
  await node.writeManifest("etcd", { ...POD, metadata: { ...POD.metadata, uid: UID } });
  await waitForPod(node, "etcd", (pod) => pod.metadata.uid === UID && isReady(pod), "Ready");
  const containers = await identity();

  await node.kill9();
  await rename(manifests, join(dir, "earlier"));
  await rename(next, manifests);
  for (const round of ["first", "second"]) {
    await node.restart();
    const pod = await waitForPod(node, "etcd", isReady, `Ready after the ${round} start`);
    assert.deepEqual([pod.metadata.uid, pod.metadata.annotations?.["kubernetes.io/config.hash"]], [UID, UID]);
    assert.deepEqual(await identity(), containers);
  }

  await node.writeManifest("etcd", manifest("etcd", [shell("app", IDLE, { env: [{ name: "A", value: "1" }] })]));
  await waitForPod(node, "etcd", (pod) => pod.metadata.uid !== UID && isReady(pod), "Ready with the new definition");
  assert.ok(podOf(await node.pods(), "etcd"));
});

const isReady = (pod: Parameters<typeof conditionsOf>[0]): boolean => conditionsOf(pod)["Ready"] === "True";

async function identity(): Promise<string[]> {
  const [sandboxes, containers] = await Promise.all([runtime.sandboxes(UID), runtime.containers(UID)]);
  return [...sandboxes, ...containers].map(({ id }) => id).sort();
}
