// Calls whose callback throws: each settles with the error, and no error leaves the callback.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { Server, ServerCredentials, type sendUnaryData, type ServerWritableStream } from "@grpc/grpc-js";
import { systemClock } from "../../../../src/shared/base/clock/clock.js";
import { armFaultPoint, faultPoint } from "../../../../src/shared/base/faults/fault-points.js";
import { runProgram } from "../../../../src/shared/io/exec/run-program.js";
import { PluginConnection } from "../../../../src/shared/kubernetes/plugins/connection.js";
import {
  DevicePluginService,
  type DevicePluginOptions,
  type Empty,
  type ListAndWatchResponse,
} from "../../../../src/shared/kubernetes/plugins/gen/deviceplugin.v1beta1.js";
import { temporaryFolder } from "../../../support/sources-kit.js";

const { getDevicePluginOptions, listAndWatch } = DevicePluginService;

async function plugin(t: TestContext): Promise<PluginConnection> {
  const socket = join(await temporaryFolder(t), "plugin.sock");
  const server = new Server();
  server.addService(
    { getDevicePluginOptions, listAndWatch },
    {
      getDevicePluginOptions: (_call: unknown, answer: sendUnaryData<DevicePluginOptions>) =>
        answer(null, { preStartRequired: true, getPreferredAllocationAvailable: false }),
      listAndWatch: (call: ServerWritableStream<Empty, ListAndWatchResponse>) => void call.write({ devices: [] }),
    },
  );
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix://${socket}`, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    );
  });
  t.after(() => server.forceShutdown());
  const connection = new PluginConnection(socket, systemClock);
  t.after(() => connection[Symbol.dispose]());
  return connection;
}

test("an armed fault point throws once; a point that is not armed does nothing", () => {
  faultPoint("inotify");
  armFaultPoint("inotify");
  faultPoint("ring-record");
  assert.throws(() => faultPoint("inotify"), /thrown in inotify/);
  faultPoint("inotify");
});

test("a plugin call whose callback throws rejects, and the next call works", async (t) => {
  const connection = await plugin(t);
  armFaultPoint("plugin-reply");
  await assert.rejects(connection.call(getDevicePluginOptions, {}, { timeoutMs: 10_000 }), /thrown in plugin-reply/);
  const reply = await connection.call(getDevicePluginOptions, {}, { timeoutMs: 10_000 });
  assert.equal(reply.preStartRequired, true);
});

test("a plugin's stream whose handler throws ends with the error, and the next stream works", async (t) => {
  const connection = await plugin(t);
  const { signal } = new AbortController();
  armFaultPoint("plugin-stream");
  await assert.rejects(
    connection.stream(listAndWatch, {}, () => assert.fail("no message"), signal),
    /thrown in plugin-stream/,
  );
  const ending = new AbortController();
  let seen = 0;
  const again = connection.stream(
    listAndWatch,
    {},
    () => {
      seen += 1;
      ending.abort();
    },
    ending.signal,
  );
  await assert.rejects(again);
  assert.equal(seen, 1);
});

test("a program's run whose end can't be handled rejects, and the next run works", async () => {
  const run = { command: "echo", args: ["there"], env: [], clock: systemClock };
  armFaultPoint("child-exit");
  await assert.rejects(runProgram(run), /thrown in child-exit/);
  assert.equal(await runProgram(run), "there\n");
});
