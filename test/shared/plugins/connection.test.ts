// The connection to a plugin's socket, against a real gRPC server.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { Server, ServerCredentials, type sendUnaryData } from "@grpc/grpc-js";
import { systemClock } from "../../../src/shared/clock/clock.js";
import { isPluginCallError, STATUS } from "../../../src/shared/plugins/call-error.js";
import { PluginConnection } from "../../../src/shared/plugins/connection.js";
import { DevicePluginService, type DevicePluginOptions } from "../../../src/shared/plugins/gen/deviceplugin.v1beta1.js";

const { getDevicePluginOptions } = DevicePluginService;

async function socketPath(context: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "plugin-"));
  context.after(() => rm(directory, { recursive: true }));
  return join(directory, "plugin.sock");
}

async function serve(context: TestContext, socket: string): Promise<Server> {
  const server = new Server();
  server.addService(
    { getDevicePluginOptions },
    {
      getDevicePluginOptions: (_call: unknown, answer: sendUnaryData<DevicePluginOptions>) =>
        answer(null, { preStartRequired: true, getPreferredAllocationAvailable: false }),
    },
  );
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix://${socket}`, ServerCredentials.createInsecure(), (error) => {
      if (error === null) resolve();
      else reject(error);
    });
  });
  context.after(() => server.forceShutdown());
  return server;
}

test("no timeout is too long for gRPC; one that is no duration fails the call by name", async (context) => {
  const socket = await socketPath(context);
  await serve(context, socket);
  using connection = new PluginConnection(socket, systemClock);

  const reply = await connection.call(getDevicePluginOptions, {}, { timeoutMs: Number.MAX_VALUE });
  assert.equal(reply.preStartRequired, true);
  for (const timeoutMs of [Number.NaN, -1]) {
    await assert.rejects(
      connection.call(getDevicePluginOptions, {}, { timeoutMs }),
      (error) => isPluginCallError(error) && error.code === STATUS.INVALID_ARGUMENT,
    );
  }
});

test("a watched connection reports its loss and its return, with and without calls meanwhile", async (context) => {
  const socket = await socketPath(context);
  const connection = new PluginConnection(socket, systemClock);
  const seen: boolean[] = [];
  let wake: () => void = () => undefined;
  connection.watch((connected) => {
    seen.push(connected);
    wake();
  });
  const until = async (connected: boolean): Promise<void> => {
    while (seen.at(-1) !== connected) await new Promise<void>((resolve) => (wake = resolve));
  };
  await until(false);
  for (const calls of [false, true]) {
    const server = await serve(context, socket);
    await until(true);
    server.forceShutdown();
    await rm(socket, { force: true });
    await until(false);
    if (calls)
      await assert.rejects(connection.call(getDevicePluginOptions, {}, { timeoutMs: 60_000 }), isPluginCallError);
  }
  await serve(context, socket);
  await until(true);
  const known = seen.length;
  connection[Symbol.dispose]();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(seen.length, known, "nothing is reported after the end");
});
