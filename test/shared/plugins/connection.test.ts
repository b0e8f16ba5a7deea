// The connection to a plugin's socket, against a real gRPC server.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Server, ServerCredentials, type sendUnaryData } from "@grpc/grpc-js";
import { systemClock } from "../../../src/shared/clock/clock.js";
import { isPluginCallError, STATUS } from "../../../src/shared/plugins/call-error.js";
import { PluginConnection } from "../../../src/shared/plugins/connection.js";
import { DevicePluginService, type DevicePluginOptions } from "../../../src/shared/plugins/gen/deviceplugin.v1beta1.js";

const { getDevicePluginOptions } = DevicePluginService;

test("no timeout is too long for gRPC; one that is no duration fails the call by name", async (context) => {
  const directory = await mkdtemp(join(tmpdir(), "plugin-"));
  context.after(() => rm(directory, { recursive: true }));
  const socket = join(directory, "plugin.sock");
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
