// The node kit itself, with the real kubelet. A pod starts, the kubelet is killed and started again, stop leaves
// nothing.

import assert from "node:assert/strict";
import { access } from "node:fs/promises";
import { test } from "node:test";
import { cgroupFolders } from "../../tools/standalone/cgroups.js";
import { isRunning } from "../../tools/standalone/pods.js";
import { processesUsing } from "../../tools/standalone/processes.js";
import { startNode, testImage } from "../harness/node.js";

const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "kit" },
  spec: {
    terminationGracePeriodSeconds: 2,
    containers: [
      {
        name: "main",
        image: testImage(),
        imagePullPolicy: "IfNotPresent",
        command: ["sh", "-c", "trap 'exit 0' TERM; while :; do sleep 3600 & wait $!; done"],
      },
    ],
  },
};

for (const containerd of ["shared", "own"] as const) {
  test(`a node on ${containerd} containerd runs a pod through kill -9 of the kubelet and leaves nothing`, async (t) => {
    const node = await startNode({ containerd });
    t.after(() => node.stop());
    await node.writeManifest("kit", pod);
    const [before] = await node.waitFor((pods) => pods.some(isRunning), { what: "the pod to run" });
    const id = before?.status?.containerStatuses?.[0]?.containerID;
    assert.ok(id !== undefined);

    await node.kill9();
    assert.equal(node.kubelet.pid, undefined);
    await assert.rejects(node.pods());
    await node.restart();
    const [again] = await node.waitFor((pods) => pods.some(isRunning), { what: "the pod to be adopted" });
    assert.equal(again?.status?.containerStatuses?.[0]?.containerID, id, "the same container");

    await node.removeManifest("kit");
    await node.waitFor((pods) => pods.length === 0, { what: "the pod to end" });
    const { dir } = node.kubelet;
    await node.stop();
    await assert.rejects(access(dir), { code: "ENOENT" });
    assert.deepEqual(await processesUsing(dir), []);
    if (node.containerd !== undefined) assert.deepEqual(await cgroupFolders(node.containerd.cgroup), []);
  });
}
