// Plugins that fill the folder of sockets, make their socket anew all the time, or never answer: the others register
// all the same.

import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { PluginHandler, RegistrationClient } from "../../../../src/main/model/plugin-handler.js";
import { PluginRefusedError, requireDriverName } from "../../../../src/main/model/plugin-refused.js";
import { PluginSocket } from "../../../../src/main/node/plugins/plugin-socket.js";
import { MOST_SOCKETS, scanSockets } from "../../../../src/main/node/plugins/socket-scan.js";
import { SocketWatch } from "../../../../src/main/node/plugins/socket-watch.js";
import { FairTurns } from "../../../../src/shared/base/turns/fair-turns.js";
import { silentLog } from "../../../support/silent.js";
import { keptLog, temporaryFolder, until } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const log = silentLog;

async function socketAt(t: TestContext, path: string): Promise<Server> {
  const server = createServer();
  server.listen(path);
  await once(server, "listening");
  t.after(() => server.close());
  return server;
}

test("a folder with more files than a scan looks at keeps the sockets that were found before", async (t) => {
  const folder = await temporaryFolder(t);
  const known = join(folder, "zz-good.sock");
  await socketAt(t, known);
  const before = await scanSockets(folder);
  assert.deepEqual([[...before.sockets.keys()], before.isCut], [[known], false]);
  for (let at = 0; at < 5000; at++) await writeFile(join(folder, `file-${at}`), "");
  const after = await scanSockets(folder, before.sockets.keys());
  assert.deepEqual([[...after.sockets], after.isCut], [[...before.sockets], true]);
  await rm(known);
  assert.equal((await scanSockets(folder, before.sockets.keys())).sockets.size, 0, "a socket that went is gone");
});

test("of hundreds of sockets and folders a bounded number is taken, the earlier ones first", async (t) => {
  const folder = await temporaryFolder(t);
  const good = join(folder, "good.sock");
  await socketAt(t, good);
  for (let at = 0; at < MOST_SOCKETS + 20; at++) await socketAt(t, join(folder, `s${at}`));
  const { sockets, isCut } = await scanSockets(folder, [good]);
  assert.deepEqual([sockets.size, sockets.has(good), isCut], [MOST_SOCKETS, true, true]);
  const deep = await temporaryFolder(t);
  for (let at = 0; at < 300; at++) await mkdir(join(deep, `d${at}`));
  const folders = await scanSockets(deep);
  assert.deepEqual([folders.directories.length, folders.isCut], [256, true]);
});

test("a folder that changes all the time is scanned at a pace, and too many entries are reported once", async (t) => {
  const directory = join(await temporaryFolder(t), "plugins_registry");
  const clock = new SteppedClock();
  const kept = keptLog();
  let scans = 0;
  const watch = new SocketWatch({ directory, clock, log: kept.log, onSockets: () => void scans++ });
  await watch.start();
  t.after(() => watch.stop());
  const settle = async (ms: number): Promise<void> => {
    const before = scans;
    clock.step(ms);
    await until("another scan", () => scans > before);
  };
  // The first round also begins to watch the folder, which asks for one more.
  await settle(100);
  const before = scans;
  for (let at = 0; at < 4200; at++) await writeFile(join(directory, `file-${at}`), "");
  assert.equal(scans, before, "the time has not moved on");
  await settle(100);
  await settle(10_000);
  assert.equal(kept.warnings().filter((text) => /more entries than the kubelet reads/.test(text)).length, 1);
});

test("a link to a socket outside of the folder is no plugin, nor is a link to a folder with sockets", async (t) => {
  const [folder, outside] = [await temporaryFolder(t), await temporaryFolder(t)];
  const other = join(outside, "runtime.sock");
  await socketAt(t, other);
  await symlink(other, join(folder, "link.sock"));
  await symlink(outside, join(folder, "folder"));
  await symlink(folder, join(folder, "itself"));
  const { sockets, directories } = await scanSockets(folder, [join(folder, "link.sock")]);
  assert.deepEqual([[...sockets.keys()], directories], [[], [folder]]);
});

test("a socket that another one replaces has another identity, and a link in its place has none", async (t) => {
  const folder = await temporaryFolder(t);
  const path = join(folder, "a.sock");
  const identity = async (): Promise<string | undefined> => (await scanSockets(folder, [path])).sockets.get(path);
  await socketAt(t, join(folder, ".first"));
  await rename(join(folder, ".first"), path);
  const first = await identity();
  await socketAt(t, join(folder, ".second"));
  await rename(join(folder, ".second"), path);
  const second = await identity();
  assert.ok(first !== undefined && second !== undefined && first !== second);
  await rm(path);
  await symlink("/run/other.sock", path);
  assert.equal(await identity(), undefined);
});

function socketOf(path: string, turns: FairTurns, getInfo: () => Promise<unknown>) {
  const clock = new SteppedClock();
  const client = { getInfo, notify: () => Promise.resolve(), close: () => undefined } as RegistrationClient;
  const handler: PluginHandler = {
    validate: () => undefined,
    register: () => Promise.resolve(),
    deregister: () => Promise.resolve(),
  };
  const handlers = new Map([["CSIPlugin", handler]]);
  return {
    clock,
    socket: new PluginSocket(path, { handlers, dial: () => Promise.resolve(client), turns, clock, log }),
  };
}

const INFO = { type: "CSIPlugin", name: "x", endpoint: "/x", versions: ["1.0.0"] };

test("a socket that is made anew again and again is registered five times in half a minute, and then with its newest", async () => {
  let calls = 0;
  const { clock, socket } = socketOf("/s", new FairTurns({ limit: 1, share: 1 }), () => {
    calls++;
    return Promise.resolve(INFO);
  });
  for (let at = 1; at <= 5; at++) {
    socket.want(`identity-${at}`);
    await until("it is registered", () => calls === at && socket.isRegistered);
  }
  for (let at = 6; at <= 500; at++) {
    socket.want(`identity-${at}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal(calls, 5);
  clock.step(29_000);
  assert.equal(calls, 5);
  clock.step(1000);
  await until("it is registered again", () => calls === 6 && socket.isRegistered);
  await socket.stop();
});

test("plugins that do not answer hold the turns for a second, then others register beside them", async () => {
  const turns = new FairTurns({ limit: 2, share: 1 });
  const hang = (): Promise<never> => new Promise(() => undefined);
  const silent = [1, 2].map((at) => socketOf(`/silent-${at}`, turns, hang));
  for (const { socket } of silent) socket.want("one");
  await until("their turns", () => silent.every(({ clock }) => clock.pending > 0));
  const good = socketOf("/good", turns, () => Promise.resolve(INFO));
  good.socket.want("one");
  await until("it waits", () => turns.waiting === 1);
  assert.equal(good.socket.isRegistered, false);
  for (const { clock } of silent) clock.step(1000);
  await until("it is registered", () => good.socket.isRegistered);
  await good.socket.stop();
});

test("a driver's name that is no DNS name is refused, and the refusal repeats little of it", () => {
  for (const name of ["..", "../../etc", "a/b", "", "-a", "x".repeat(64), `a\u0000b`, "a b", "y".repeat(100_000)]) {
    assert.throws(
      () => requireDriverName("CSI", name),
      (error) => error instanceof PluginRefusedError && error.message.length < 400,
    );
  }
  for (const name of ["csi.example.com", "EBS.csi.aws.com", "a", "x".repeat(63)]) requireDriverName("DRA", name);
});
