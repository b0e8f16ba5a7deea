// Devices of plugins as the cluster sees them: on the Node, in a pod's status, and gone with the plugin. Plugins of a
// node with a cluster register by the same directory as CSI drivers.
// @promise Resources of the node: Plugin devices are in the Node and in container statuses; the pod resources API lists
//   allocated CPUs and devices.
// @with test/integration/devices.test.ts, test/main/node/pod-resources

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { testImage, waitFor } from "../harness/node.js";
import type { ApiKit, ApiObject } from "../support/api-kit.js";
import { boundPod, isReady, NODE_NAME, startClusterNode, statusOf, type ClusterNode } from "../support/cluster-node.js";
import { TestDevicePlugin } from "../support/device-plugin/plugin.js";
import { IDLE } from "../support/static-pods.js";

const GPU = "example.com/gpu";
const namespace = `devices-${process.pid}`;

let cluster: ClusterNode;
let api: ApiKit;
let plugin: TestDevicePlugin;

before(async () => {
  cluster = await startClusterNode({ contentType: "application/json" });
  ({ api } = cluster);
  await api.create("namespaces", { metadata: { name: namespace } });
  await api.waitFor("serviceaccounts", namespace, "default", (one) => one !== undefined, { what: "default" });
  const { rootDir } = cluster.node.kubelet;
  plugin = await TestDevicePlugin.start({ resource: GPU, rootDir, devices: { a: {}, b: { healthy: false } } });
});
after(async () => {
  await plugin.stop();
  await api.delete("namespaces", "", namespace);
  await cluster.stop();
});

/** [capacity, allocatable] */
const shown = (node: ApiObject | undefined): (string | undefined)[] => {
  const { capacity, allocatable } =
    (node?.["status"] as { capacity?: Record<string, string>; allocatable?: Record<string, string> } | undefined) ?? {};
  return [capacity?.[GPU], allocatable?.[GPU]];
};
const nodeShows = (...expected: string[]) =>
  api.waitFor("nodes", "", NODE_NAME, (node) => shown(node).join() === expected.join(), {
    what: `the Node with ${expected.join(" and ")} of ${GPU}`,
  });

test("the Node shows a plugin's devices; a pod gets one and its status shows it; without the plugin the pod keeps running", async () => {
  await plugin.registerBySocket();
  await nodeShows("2", "1");
  const devices = { [GPU]: "1" };
  const pod = boundPod("user", IDLE, {
    containers: [
      {
        name: "app",
        image: testImage(),
        imagePullPolicy: "Never",
        command: ["/bin/sh", "-c", `test "$MADE_UP_DEVICES" = a && ${IDLE}`],
        resources: { limits: devices, requests: devices },
      },
    ],
  });
  await api.create("pods", { ...pod, metadata: { name: "user", namespace } });
  const running = await api.waitFor("pods", namespace, "user", isReady, { what: "the pod with its device" });
  assert.deepEqual(statusOf(running).containerStatuses?.[0]?.allocatedResourcesStatus, [
    { name: GPU, resources: [{ resourceID: "a", health: "Healthy" }] },
  ]);
  await plugin.stop();
  await nodeShows("2", "0");
  const { containerStatuses } = statusOf(await api.find("pods", namespace, "user"));
  assert.equal(containerStatuses?.[0]?.restartCount, 0);
  await waitFor(() => Promise.resolve(plugin.statuses[0]?.pluginRegistered), {
    what: "the plugin received its status",
  });
});
