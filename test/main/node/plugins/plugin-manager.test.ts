// Registration of plugins: sockets that come, go, come back, lie or say nothing.
// @promise Resources of the node: A plugin that fails NotifyRegistrationStatus is deregistered and registered again
//   after a back-off, as upstream.

import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync, existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { test, type TestContext } from "node:test";
import { status } from "@grpc/grpc-js";
import type { PluginHandler, PluginInfo, RegistrationClient } from "../../../../src/main/model/plugin-handler.js";
import { labelPluginFolders } from "../../../../src/main/node/plugins/plugin-labels.js";
import { PluginManager } from "../../../../src/main/node/plugins/plugin-manager.js";
import { PluginSocket } from "../../../../src/main/node/plugins/plugin-socket.js";
import { systemClock } from "../../../../src/shared/base/clock/clock.js";
import { FairTurns } from "../../../../src/shared/base/turns/fair-turns.js";
import { ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";
import { renderExposition } from "../../../../src/workers/server/metrics/merge-metrics.js";
import { TestCsiDriver } from "../../../support/csi/driver.js";
import { silentLog } from "../../../support/silent.js";
import { until, keptLog, temporaryFolder } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const log = silentLog;

async function world(t: TestContext) {
  const root = await mkdtemp(`${tmpdir()}/nodelet-plugins-`);
  const registry = new ThreadRegistry("main");
  const done: string[] = [];
  const problems = new Map<string, string>();
  const handler: PluginHandler = {
    validate({ name }) {
      const problem = problems.get(name);
      if (problem !== undefined) throw new Error(problem);
    },
    register: ({ name, endpoint }) => Promise.resolve(void done.push(`+${name} ${endpoint}`)),
    deregister: ({ name }) => Promise.resolve(void done.push(`-${name}`)),
  };
  const manager = new PluginManager({
    rootDir: root,
    registry,
    clock: systemClock,
    log,
    handlers: { CSIPlugin: handler },
  });
  t.after(async () => {
    await manager.stop();
    await rm(root, { recursive: true, force: true });
  });
  const driver = async (name: string): Promise<TestCsiDriver> => {
    const made = await TestCsiDriver.start({ name, rootDir: root, home: `${root}/drivers/${name}` });
    t.after(() => made.stop());
    return made;
  };
  return { root, done, problems, manager, driver, registry };
}

function listen(t: TestContext, path: string): Promise<Server> {
  return new Promise((resolve) => {
    const server = createServer();
    t.after(() => server.close());
    server.listen(path, () => resolve(server));
  });
}

test("existing plugins, new ones, removed ones and ones that return", async (t) => {
  const { done, manager, driver, registry } = await world(t);
  const counted = async (): Promise<string[]> =>
    renderExposition([await registry.exportSnapshot()])
      .split("\n")
      .filter((line) => line.startsWith("plugin_manager_total_plugins{"));
  const first = await driver("first.csi");
  await manager.start();
  await until("the first", () => first.statuses.length === 1);
  assert.deepEqual(first.statuses, [{ pluginRegistered: true, error: "" }]);
  assert.deepEqual(done, [`+first.csi ${first.endpoint}`]);
  const second = await driver("second.csi");
  await until("the second", () => second.statuses.length === 1);
  await first.stop();
  await until("the first is gone", () => done.includes("-first.csi"));
  assert.deepEqual((await counted()).map((line) => /state="(\w+)_state.*} 1$/.exec(line)?.[1]).sort(), [
    "actual",
    "desired",
  ]);
  await first.start();
  await until("the first is back", () => first.statuses.length === 2);
  assert.deepEqual(done, [
    `+first.csi ${first.endpoint}`,
    `+second.csi ${second.endpoint}`,
    "-first.csi",
    `+first.csi ${first.endpoint}`,
  ]);
});

test("sockets below directories are found, and a directory that was created again is watched again", async (t) => {
  const { root, done, manager } = await world(t);
  await manager.start();
  for (const round of [1, 2]) {
    const nested = await TestCsiDriver.start({ name: "deep/deeper", rootDir: root, home: `${root}/d` });
    t.after(() => nested.stop());
    await until("it registers", () => nested.statuses.length === 1);
    await nested.stop();
    rmSync(`${root}/plugins_registry/deep`, { recursive: true });
    await until("it is gone", () => done.filter((one) => one === "-deep/deeper").length === round);
  }
});

test("other files are ignored: plain files, hidden sockets, sockets without a server or without an answer", async (t) => {
  const { root, done, manager, driver } = await world(t);
  const registry = `${root}/plugins_registry`;
  mkdirSync(registry, { recursive: true });
  writeFileSync(`${registry}/file.sock`, "");
  await listen(t, `${registry}/.hidden.sock`);
  const silent = await listen(t, `${registry}/silent.sock`);
  let asked = 0;
  silent.on("connection", (socket) => {
    asked++;
    socket.on("error", () => undefined);
    t.after(() => socket.destroy());
  });
  const talking = await listen(t, `${registry}/http.sock`);
  talking.on("connection", (socket) => {
    socket.on("error", () => undefined);
    socket.end("HTTP/1.1 400 Bad Request\r\n\r\n");
  });
  await manager.start();
  const good = await driver("good.csi");
  await until("the good one", () => good.statuses.length === 1);
  await until("the silent one is asked", () => asked > 0);
  assert.deepEqual(done, [`+good.csi ${good.endpoint}`]);
});

test("a refused plugin receives the reason and is called again", async (t) => {
  const { problems, manager, driver, done } = await world(t);
  problems.set("bad.csi", "no");
  await manager.start();
  const bad = await driver("bad.csi");
  await until("it is refused", () => bad.statuses.length === 1);
  assert.deepEqual(bad.statuses, [{ pluginRegistered: false, error: "no" }]);
  problems.clear();
  await until("the second try", () => bad.statuses.length === 2);
  assert.deepEqual(bad.statuses[1], { pluginRegistered: true, error: "" });
  assert.equal(done.length, 1);
});

test("a plugin that fails NotifyRegistrationStatus is deregistered and registered again", async (t) => {
  const { manager, driver, done } = await world(t);
  const one = await driver("one.csi");
  one.faults.set("NotifyRegistrationStatus", { code: status.INTERNAL, times: 1 });
  await manager.start();
  await until("the second try", () => one.statuses.length === 1);
  assert.deepEqual(one.statuses, [{ pluginRegistered: true, error: "" }]);
  assert.deepEqual(done, [`+one.csi ${one.endpoint}`, "-one.csi", `+one.csi ${one.endpoint}`]);
});

test("plugins that are registered when the kubelet stops stay registered", async (t) => {
  const { manager, driver, done } = await world(t);
  const left = await driver("left.csi");
  await manager.start();
  await until("it registers", () => left.statuses.length === 1);
  await manager.stop();
  assert.equal(done.length, 1);
});

/** One socket, under virtual time. */
function socketOf(answer: () => Promise<PluginInfo>, notified: () => Promise<void> = () => Promise.resolve()) {
  const clock = new SteppedClock();
  const calls: string[] = [];
  const client: RegistrationClient = {
    getInfo: () => {
      calls.push("GetInfo");
      return answer();
    },
    notify: (error) => {
      calls.push(error ?? "registered");
      return notified();
    },
    close: () => undefined,
  };
  const handler: PluginHandler = {
    validate: () => undefined,
    register: () => Promise.resolve(void calls.push("register")),
    deregister: () => Promise.resolve(void calls.push("deregister")),
  };
  const handlers = new Map([["CSIPlugin", handler]]);
  const turns = new FairTurns({ limit: 1, share: 1 });
  const socket = new PluginSocket("/s", { handlers, dial: () => Promise.resolve(client), turns, clock, log });
  return { socket, clock, calls };
}
const info: PluginInfo = { type: "CSIPlugin", name: "x", endpoint: "/x", versions: ["1.0.0"] };

test("a socket that fails is called again after 0.5, 1, 2 s and so on, at most 122 s", async () => {
  const { socket, clock, calls } = socketOf(() => Promise.reject(new Error("nobody there")));
  socket.want("one");
  let tries = 0;
  for (const delayMs of [500, 1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 122_000, 122_000]) {
    await until("it waits", () => clock.pending === 1);
    assert.equal(calls.length, ++tries);
    clock.step(delayMs - 1);
    assert.equal(clock.pending, 1, `not before ${delayMs} ms`);
    clock.step(1);
  }
  await socket.stop();
  assert.equal(clock.pending, 0);
});

test("a kubelet that stops during NotifyRegistrationStatus leaves the plugin registered", async () => {
  let cancel: () => void = () => undefined;
  const cancelled = new Promise<void>((_, reject) => {
    cancel = () => reject(new Error("the call was cancelled"));
  });
  const { socket, calls } = socketOf(
    () => Promise.resolve(info),
    () => cancelled,
  );
  socket.want("one");
  await until("it is notified", () => calls.includes("registered"));
  const stopped = socket.stop();
  cancel();
  await stopped;
  assert.deepEqual(calls, ["GetInfo", "register", "registered"]);
});

test("a type without a handler is refused by name", async () => {
  const { socket, clock, calls } = socketOf(() => Promise.resolve({ ...info, type: "Teapot" }));
  socket.want("one");
  await until("it waits", () => clock.pending === 1);
  assert.deepEqual(calls, ["GetInfo", "no handler registered for plugin type: Teapot of x; there are: CSIPlugin"]);
  await socket.stop();
});

test("another socket at the same path is another plugin: the first one is deregistered before, after any events in between", async () => {
  const { socket, calls } = socketOf(() => Promise.resolve(info));
  socket.want("one");
  await until("it registers", () => calls.includes("registered"));
  calls.length = 0;
  socket.want(undefined);
  socket.want("two");
  socket.want("three");
  await until("it registers", () => calls.includes("registered"));
  assert.deepEqual(calls, ["deregister", "GetInfo", "register", "registered"]);
  socket.want(undefined);
  await until("it is gone", () => socket.idle);
});

for (const enabled of [true, false]) {
  test(`SELinux ${enabled ? "enabled: both folders are labelled" : "not enabled: no program runs"}`, async (t) => {
    const rootDir = await temporaryFolder(t);
    const calls: string[] = [];
    await labelPluginFolders({
      rootDir,
      log: keptLog().log,
      isEnabled: () => Promise.resolve(enabled),
      program: (program, args) => {
        calls.push([program, ...args].join(" "));
        return Promise.resolve();
      },
    });
    const folders = `${rootDir}/plugins_registry ${rootDir}/plugins`;
    assert.deepEqual(calls, enabled ? [`chcon -- system_u:object_r:container_file_t:s0 ${folders}`] : []);
    assert.equal(existsSync(`${rootDir}/plugins`), enabled);
  });
}

test("a label that cannot be set is a warning", async (t) => {
  const { log, warnings } = keptLog();
  await labelPluginFolders({
    rootDir: await temporaryFolder(t),
    log,
    isEnabled: () => Promise.resolve(true),
    program: () => Promise.reject(new Error("Operation not supported")),
  });
  assert.match(warnings().join(), /cannot set the SELinux label .*plugins_registry.*Operation not supported/);
});
