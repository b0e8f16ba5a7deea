// Device plugins that hang in Allocate, GetPreferredAllocation or PreStartContainer, in the whole kubelet: pods that
// need nothing of them start, and their own pods start when they answer. No device is given twice.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { startNode, waitFor, type TestNode } from "../harness/node.js";
import { TestDevicePlugin } from "../support/device-plugin/plugin.js";
import { HostilePlugins } from "../support/hostile-plugins.js";
import { IDLE, manifest, report, reporter, shell, waitForPod } from "../support/static-pods.js";

const METHODS = ["getPreferredAllocation", "allocate", "preStartContainer"] as const;
const GOOD = "good.example.com/device";
const resourceOf = (method: string): string => `evil.example.com/${method.toLowerCase()}`;

let node: TestNode;
let good: TestDevicePlugin;
const plugins = new HostilePlugins();
const hanging = new Map(METHODS.map((method) => [method, plugins.hangingDevices(3, method)]));

before(async () => {
  node = await startNode();
  const { rootDir } = node.kubelet;
  good = await TestDevicePlugin.start({ resource: GOOD, rootDir, devices: { g: {} } });
  await waitFor(() => good.register().then(() => true), { what: "the honest plugin is registered" });
  for (const [method, { service }] of hanging) {
    await plugins.serve(join(rootDir, "device-plugins", `${method}.sock`), service);
    assert.equal(await plugins.register(rootDir, resourceOf(method), `${method}.sock`), "");
  }
});
after(async () => {
  await plugins.stop();
  await good.stop();
  await node.stop();
});

const wants = (resource: string) => ({ resources: { requests: { [resource]: 1 }, limits: { [resource]: 1 } } });
const evilPods = METHODS.flatMap((method) =>
  [1, 2].map((number) => ({ name: `${method.toLowerCase()}-${number}`, method })),
);

test("while device plugins hang, pods that do not need their devices start", async () => {
  for (const { name, method } of evilPods) {
    await node.writeManifest(name, manifest(name, [reporter("app", "echo $HANG", wants(resourceOf(method)))]));
  }
  const begun = plugins.requests;
  // One call of each: the second pod of a plugin waits for the first.
  await waitFor(() => Promise.resolve(plugins.requests >= begun + METHODS.length), {
    what: "the plugins to be called",
  });
  await node.writeManifest("plain", manifest("plain", [shell("app", IDLE)]));
  await node.writeManifest("other", manifest("other", [shell("app", IDLE, wants(GOOD))]));
  for (const name of ["plain", "other"]) {
    await waitForPod(node, name, ({ status }) => status?.phase === "Running", "runs");
  }
  for (const { name } of evilPods) {
    await waitForPod(node, name, ({ status }) => status?.phase === "Pending", "waits for its plugin");
  }
});

test("when the plugins answer, each of their pods has a device of its own", async () => {
  for (const plugin of hanging.values()) plugin.answer();
  for (const method of METHODS) {
    const devices: string[] = [];
    for (const { name } of evilPods.filter((pod) => pod.method === method)) {
      devices.push(...(await report(node, name, "app")).filter((line) => line.startsWith("hang-")));
    }
    assert.equal(new Set(devices).size, 2, `${method}: ${devices.join()}`);
  }
});
