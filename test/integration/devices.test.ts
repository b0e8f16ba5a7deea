// Device plugins of our own on real containers: both ways to register, and the devices of a container. Devices or
// plugins fail, and a restart of the kubelet loses no allocation.
// @promise Resources of the node: A device is allocated to one pod at a time, and kept over restarts of container,
//   plugin and kubelet (kill -9); no unhealthy device, and none of a stopped plugin, is allocated.
// @with test/main/resources/devices
// @promise Resources of the node: The kubelet makes no DEPRECATION file in device-plugins and removes that of an
//   earlier version: plugins on upstream's library register.
// @with test/main/resources/devices/registration.test.ts

import assert from "node:assert/strict";
import { readdir, truncate } from "node:fs/promises";
import { after, before, describe, test } from "node:test";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { PodResourcesListerService } from "../../src/shared/kubernetes/plugins/gen/podresources.v1.js";
import { startNode, waitFor, type TestNode } from "../harness/node.js";
import { TestDevicePlugin } from "../support/device-plugin/plugin.js";
import {
  IDLE,
  idOf,
  manifest,
  report,
  reporter,
  RuntimeView,
  shell,
  statusOf,
  waitForPod,
  waitGone,
} from "../support/static-pods.js";

const GPU = "example.com/gpu";
const NIC = "example.com/nic";

let node: TestNode;
let runtime: RuntimeView;
let gpus: TestDevicePlugin;
let nics: TestDevicePlugin;

before(async () => {
  node = await startNode();
  runtime = new RuntimeView(node.endpoint);
  const { rootDir } = node.kubelet;
  gpus = await TestDevicePlugin.start({
    resource: GPU,
    rootDir,
    devices: { "gpu-0": {}, "gpu-1": {}, broken: { healthy: false } },
    preStartRequired: true,
  });
  nics = await TestDevicePlugin.start({ resource: NIC, rootDir, devices: { "nic-0": { nodes: [0] } } });
});
after(async () => {
  await gpus.stop();
  await nics.stop();
  runtime.close();
  await node.stop();
});

const wants = (devices: Record<string, number>) => ({ resources: { requests: devices, limits: devices } });
const LOOK =
  "echo ids=$MADE_UP_DEVICES; cat /made-up/*; for d in /dev/made-up-*; do echo node=$d; head -c 2 $d | wc -c; done";

const { list, getAllocatableResources } = PodResourcesListerService;

/** A call without fields in its request. */
function podResources<Reply>(method: { path: string; responseDeserialize(bytes: Buffer): Reply }): Promise<Reply> {
  const socket = `unix://${node.kubelet.rootDir}/pod-resources/kubelet.sock`;
  const client = new Client(socket, credentials.createInsecure());
  return new Promise<Reply>((resolve, reject) => {
    client.makeUnaryRequest<object, Reply>(
      method.path,
      () => Buffer.alloc(0),
      (bytes) => method.responseDeserialize(bytes),
      {},
      new Metadata(),
      (error: ServiceError | null, reply) =>
        error === null && reply !== undefined ? resolve(reply) : reject(error ?? new Error("no reply")),
    );
  }).finally(() => client.close());
}

test("device-plugins has the kubelet's socket, and no file that keeps plugins on upstream's library from registering", async () => {
  const names = (): Promise<string[]> => readdir(`${node.kubelet.rootDir}/device-plugins`);
  await waitFor(async () => (await names()).includes("kubelet.sock"), { what: "the socket" });
  assert.ok(!(await names()).includes("DEPRECATION"));
});

/** Container to "resource=id" of pod `name`. */
async function listed(name: string): Promise<Record<string, string[]>> {
  const { podResources: pods } = await podResources(list);
  const pod = pods.find((one) => one.name.startsWith(name));
  return Object.fromEntries(
    (pod?.containers ?? []).map((container) => [
      container.name,
      container.devices.map(({ resourceName, deviceIds }) => `${resourceName}=${deviceIds.join("+")}`).sort(),
    ]),
  );
}

/** kubelet.sock shows up a moment after the start. */
async function registered(plugin: TestDevicePlugin, ...ids: string[]): Promise<void> {
  await waitFor(() => plugin.register().then(() => true), { what: "the plugin is registered" });
  await offered(...ids);
}

/** The kubelet knows that these devices can be allocated: a plugin reports them after its registration. */
async function offered(...ids: string[]): Promise<void> {
  let known: string[] = [];
  await waitFor(
    async () => {
      known = (await podResources(getAllocatableResources)).devices.flatMap(({ deviceIds }) => deviceIds);
      return ids.every((id) => known.includes(id));
    },
    { what: `the devices ${ids.join()}`, lastSeen: () => known.join() },
  );
}

describe("devices", () => {
  test("registered by either way, they reach a container as variable, file and device node", async () => {
    await registered(gpus, "gpu-0", "gpu-1");
    await nics.registerBySocket();
    await waitFor(() => Promise.resolve(nics.statuses[0]?.pluginRegistered), { what: "the socket's plugin is in use" });
    await offered("nic-0");
    await node.writeManifest("user", manifest("user", [reporter("app", LOOK, wants({ [GPU]: 1, [NIC]: 1 }))]));
    const pod = await waitForPod(node, "user", (one) => statusOf(one, "app")?.state.running !== undefined, "runs");
    const lines = await report(node, "user", "app");
    // Both plugins name the same variable: the first by name wins.
    assert.ok(lines.includes("ids=gpu-0"), lines.join("\n"));
    for (const id of ["gpu-0", "nic-0"]) {
      assert.ok(lines.includes(`device ${id}`), lines.join("\n"));
      assert.ok(lines.includes(`node=/dev/made-up-${id}`), lines.join("\n"));
    }
    assert.deepEqual(gpus.preStarted, [["gpu-0"]]);
    const [container] = await runtime.containers(pod.metadata.uid);
    assert.equal(container?.annotations["example.com/devices"], "gpu-0");
    assert.deepEqual(await listed("user"), { app: [`${GPU}=gpu-0`, `${NIC}=nic-0`] });
    assert.deepEqual(statusOf(pod, "app")?.allocatedResourcesStatus, [
      { name: GPU, resources: [{ resourceID: "gpu-0", health: "Healthy" }] },
      { name: NIC, resources: [{ resourceID: "nic-0", health: "Healthy" }] },
    ]);
  });

  test("one that is unhealthy is not given, and with none left the pod is refused with the reason", async () => {
    await node.writeManifest("greedy", manifest("greedy", [shell("app", IDLE, wants({ [GPU]: 2 }))]));
    const refused = await waitForPod(node, "greedy", ({ status }) => status?.phase === "Failed", "is refused");
    assert.deepEqual(await runtime.sandboxes(refused.metadata.uid), []);
    assert.equal(refused.status?.reason, "UnexpectedAdmissionError");
    assert.equal(
      refused.status.message,
      `Pod was rejected: Allocate failed due to requested number of devices unavailable for ${GPU}. Requested: 2, ` +
        "Available: 1, which is unexpected",
    );
    await node.removeManifest("greedy");
    await waitGone(node, "greedy");
    gpus.set("gpu-0", { healthy: false });
    await waitForPod(
      node,
      "user",
      (one) => statusOf(one, "app")?.allocatedResourcesStatus?.[0]?.resources[0]?.health === "Unhealthy",
      "shows its device's health",
    );
    gpus.set("gpu-0", {});
  });

  test("kill -9: the pod runs on with its devices; a new one waits for nothing and is refused without the plugin", async () => {
    const before = await waitForPod(node, "user", () => true, "is there");
    await gpus.stop();
    await node.kill9();
    await node.restart();
    await node.writeManifest("early", manifest("early", [shell("app", IDLE, wants({ [GPU]: 1 }))]));
    const early = await waitForPod(node, "early", ({ status }) => status?.phase === "Failed", "is refused");
    assert.equal(
      early.status?.message,
      `Pod was rejected: Allocate failed due to no healthy devices present; cannot allocate unhealthy devices ${GPU}, ` +
        "which is unexpected",
    );
    await node.removeManifest("early");
    await waitGone(node, "early");
    const now = await waitForPod(node, "user", ({ status }) => status?.phase === "Running", "runs");
    assert.equal(statusOf(now, "app")?.containerID, statusOf(before, "app")?.containerID);
    await waitFor(async () => (await listed("user"))["app"]?.length === 2, { what: "pod resources know its devices" });
    await runtime.stopContainer(idOf(statusOf(now, "app")), 0);
    await waitForPod(node, "user", (one) => statusOf(one, "app")?.restartCount === 1, "starts again");
    assert.ok((await report(node, "user", "app", 1)).includes("ids=gpu-0"), "with the same device, without its plugin");
    // The plugin makes its socket anew, as it must when kubelet.sock is another.
    await gpus.serve();
    await registered(gpus, "gpu-0", "gpu-1");
    await node.writeManifest(
      "late",
      manifest("late", [reporter("app", "echo ids=$MADE_UP_DEVICES", wants({ [GPU]: 1 }))]),
    );
    assert.ok((await report(node, "late", "app")).includes("ids=gpu-1"));
  });

  test("a damaged checkpoint: no device is allocated while pods with unknown devices run, all are after these are removed", async () => {
    const { rootDir } = node.kubelet;
    const checkpoint = `${rootDir}/device-plugins/kubelet_internal_checkpoint`;
    const runs = (name: string) =>
      waitForPod(node, name, (one) => statusOf(one, "app")?.state.running !== undefined, "runs");
    const before = [await runs("user"), await runs("late")];
    await gpus.stop();
    await node.kill9();
    await truncate(checkpoint, 40);
    await node.restart();
    await gpus.serve();
    await registered(gpus, "gpu-0", "gpu-1");
    await node.writeManifest("newcomer", manifest("newcomer", [shell("app", IDLE, wants({ [GPU]: 1 }))]));
    const refused = await waitForPod(node, "newcomer", ({ status }) => status?.phase === "Failed", "is refused");
    const { reason, message = "" } = refused.status ?? {};
    assert.equal(reason, "UnexpectedAdmissionError");
    assert.ok(
      message.includes(`the device checkpoint ${checkpoint} could not be read (kept as ${checkpoint}.corrupt-`),
      message,
    );
    for (const name of ["user", "late"]) assert.ok(message.includes(`${name}-testnode_default(`), message);
    assert.deepEqual(await runtime.sandboxes(refused.metadata.uid), []);
    const after = [await runs("user"), await runs("late")];
    const ids = (pods: typeof before) => pods.map((pod) => statusOf(pod, "app")?.containerID);
    assert.deepEqual(ids(after), ids(before), "the others run on");
    await runtime.stopContainer(idOf(statusOf(after[0], "app")), 0);
    const stopped = await waitForPod(
      node,
      "user",
      (one) => statusOf(one, "app")?.state.waiting?.reason === "CreateContainerConfigError",
      "does not start again",
    );
    const why = statusOf(stopped, "app")?.state.waiting?.message ?? "";
    assert.ok(
      why.includes(`the ${GPU} allocation of container app is unknown and the container cannot start again`),
      why,
    );
    for (const name of ["newcomer", "user", "late"]) {
      await node.removeManifest(name);
      await waitGone(node, name);
    }
    const look = reporter("app", "echo ids=$MADE_UP_DEVICES", wants({ [GPU]: 1 }));
    await node.writeManifest("again", manifest("again", [look]));
    assert.ok((await report(node, "again", "app")).includes("ids=gpu-0"));
  });
});
