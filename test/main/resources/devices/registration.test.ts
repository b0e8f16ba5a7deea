// Registration over real sockets: the replies to a plugin, and the watch of its devices.

import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { describe, test, type TestContext } from "node:test";
import { DeviceManager } from "../../../../src/main/resources/devices/device-manager.js";
import { dialDevicePlugin } from "../../../../src/main/resources/devices/plugin-client.js";
import { preparePluginDirectory } from "../../../../src/main/resources/devices/plugin-directory.js";
import { devicePluginHandler, registerPlugin } from "../../../../src/main/resources/devices/register-plugin.js";
import { serveRegistration } from "../../../../src/main/resources/devices/registration-server.js";
import { systemClock } from "../../../../src/shared/base/clock/clock.js";
import { isExtendedResourceName } from "../../../../src/shared/kubernetes/api/extended-resources.js";
import { TestDevicePlugin, type TestPluginOptions } from "../../../support/device-plugin/plugin.js";
import { noDeviceMetrics, silentLog } from "../../../support/silent.js";
import { allocate, GPU, never, podOf, wanting } from "./kit.js";

const log = silentLog;

/** Resolves when `condition` holds after one of the manager's changes. */
class Changes {
  private waiting: (() => void)[] = [];
  notified = (): void => {
    for (const look of this.waiting.splice(0)) look();
  };
  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (condition()) resolve();
        else this.waiting.push(look);
      };
      look();
    });
  }
}

async function agent(t: TestContext) {
  const rootDir = await mkdtemp(`${tmpdir()}/nodelet-dp-`);
  const directory = `${rootDir}/device-plugins`;
  const changes = new Changes();
  const registered: string[] = [];
  const metrics = { ...noDeviceMetrics, registered: (resource: string) => void registered.push(resource) };
  const manager = new DeviceManager({
    directory,
    dial: (socket) => Promise.resolve(dialDevicePlugin(socket, systemClock)),
    numaNodes: () => [0],
    podRuns: () => false,
    runningPods: () => [],
    onDevices: changes.notified,
    onHealth: () => undefined,
    clock: systemClock,
    ...{ metrics, log },
  });
  const { endpoints } = manager;
  const serve = () =>
    serveRegistration(
      directory,
      (request, signal) => registerPlugin(request, { endpoints, metrics, directory }, signal),
      log,
    );
  t.after(async () => {
    await manager.stop();
    await rm(rootDir, { recursive: true, force: true });
  });
  const plugin = async (options: Partial<TestPluginOptions> = {}): Promise<TestDevicePlugin> => {
    const made = await TestDevicePlugin.start({ resource: GPU, rootDir, devices: { a: {}, b: {} }, ...options });
    t.after(() => made.stop());
    return made;
  };
  const started = async (): Promise<void> => {
    await mkdir(directory, { recursive: true });
    const server = await serve();
    t.after(() => server.stop());
    assert.equal((await stat(`${directory}/kubelet.sock`)).mode & 0o777, 0o600);
  };
  return { directory, manager, changes, registered, plugin, started };
}

test("a plugin registers, reports devices, is called, changes them, and disconnects", async (t) => {
  const { manager, changes, registered, plugin, started } = await agent(t);
  await started();
  const one = await plugin({ preStartRequired: true, prefer: (available) => available.toReversed().slice(0, 1) });
  await one.register();
  await changes.until(() => manager.pool.usable(GPU).size === 2);
  const pod = podOf("1", wanting("c", 1));
  await allocate(manager, pod);
  await manager.preStart(pod, wanting("c", 1), never);
  assert.deepEqual([one.allocated, one.preStarted], [[["b"]], [["b"]]]);
  one.set("a", { healthy: false });
  await changes.until(() => manager.pool.usable(GPU).size === 1);
  one.faults.set("PreStartContainer", "it smells");
  await assert.rejects(manager.preStart(pod, wanting("c", 1), never), {
    message: "device plugin PreStartContainer rpc failed with err: rpc error: code = Unknown desc = it smells",
  });
  await one.stop();
  await changes.until(() => manager.pool.usable(GPU).size === 0);
  assert.equal(manager.pool.counts().capacity.get(GPU), 2);
  assert.deepEqual(registered, [GPU]);
});

test("sockets of former plugins and the DEPRECATION file go when ours is made; other files stay", async (t) => {
  const { directory, started } = await agent(t);
  await mkdir(`${directory}/folder`, { recursive: true });
  const former = createServer();
  await new Promise<void>((resolve) => former.listen(`${directory}/former.sock`, resolve));
  t.after(() => former.close());
  await writeFile(`${directory}/DEPRECATION`, "");
  await preparePluginDirectory(directory);
  await started();
  assert.deepEqual((await readdir(directory)).sort(), ["folder", "kubelet.sock"]);
  assert.ok((await stat(`${directory}/kubelet.sock`)).isSocket());
});

describe("a plugin is refused", () => {
  const rows: [what: string, options: Partial<TestPluginOptions>, text: string][] = [
    [
      "of another version",
      { version: "v1alpha1" },
      'requested API version "v1alpha1" is not supported by kubelet. Supported version is ["v1beta1"]',
    ],
    [
      "of a name that is Kubernetes' own",
      { resource: "kubernetes.io/x" },
      'the ResourceName "kubernetes.io/x" is invalid',
    ],
    ["of no domain", { resource: "gpu" }, 'the ResourceName "gpu" is invalid'],
  ];
  for (const [what, options, text] of rows) {
    test(what, async (t) => {
      const { plugin, started, manager } = await agent(t);
      await started();
      const one = await plugin(options);
      await assert.rejects(one.register(), { details: text, code: 2 });
      assert.deepEqual(manager.pool.names(), []);
    });
  }

  test("that does not say its options", async (t) => {
    const { plugin, started } = await agent(t);
    await started();
    const one = await plugin();
    one.faults.set("GetDevicePluginOptions", "who asks?");
    await assert.rejects(one.register(), {
      details: "failed to get device plugin options: rpc error: code = Unknown desc = who asks?",
    });
  });
});

test("by plugins_registry: version and name are looked at, the socket is its endpoint", async (t) => {
  const { manager, changes, plugin } = await agent(t);
  const handler = devicePluginHandler(manager.endpoints);
  const one = await plugin();
  const info = { type: "DevicePlugin", name: GPU, endpoint: one.socket, versions: ["v1beta1"] };
  assert.throws(
    () => handler.validate({ ...info, versions: ["v1"] }),
    /v1beta1, is not among plugin supported versions/,
  );
  assert.throws(() => handler.validate({ ...info, name: "gpu" }), /the ResourceName "gpu" is invalid/);
  handler.validate(info);
  await handler.register(info, never);
  await changes.until(() => manager.pool.usable(GPU).size === 2);
  await handler.deregister({ ...info, endpoint: "/another" }, never);
  assert.equal(manager.pool.usable(GPU).size, 2);
  await handler.deregister(info, never);
  assert.equal(manager.pool.usable(GPU).size, 0);
});

describe("names of extended resources", () => {
  const rows: [string, boolean][] = [
    ["example.com/gpu", true],
    ["gpu", false],
    ["kubernetes.io/gpu", false],
    ["node.kubernetes.io/gpu", false],
    ["requests.example.com/gpu", false],
    ["example.com/", false],
    ["example.com/a b", false],
    [`${"a".repeat(245)}/gpu`, false],
  ];
  for (const [name, valid] of rows)
    test(`${name.slice(0, 30)}: ${valid}`, () => assert.equal(isExtendedResourceName(name), valid));
});
