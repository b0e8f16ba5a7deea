// Which volumes the runtime may give the container's SELinux label: those that the kubelet makes, never a path of the
// node.

import assert from "node:assert/strict";
import { test } from "node:test";
import { manager, never, podWith, temporaryRoot } from "./temporary-root.js";

test("emptyDir and downward API volumes may be relabelled, a path of the node may not", async (t) => {
  const root = await temporaryRoot(t);
  const labels = { path: "labels", fieldRef: { apiVersion: "v1", fieldPath: "metadata.labels" } };
  const pod = podWith([
    { name: "disk", emptyDir: {} },
    { name: "api", downwardAPI: { items: [labels] } },
    { name: "node", hostPath: { path: root } },
  ]);
  const volumes = manager(root);
  t.after(() => volumes.removePodDirectory(pod.metadata.uid));
  const places = await volumes.setUpPod(pod, never);
  const relabelled = [...places].filter(([, place]) => "relabel" in place);
  assert.deepEqual(relabelled.map(([name]) => name).sort(), ["api", "disk"]);
});
