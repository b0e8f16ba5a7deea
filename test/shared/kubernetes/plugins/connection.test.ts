// The connection to a plugin's socket, against a real gRPC server.

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { Server, ServerCredentials, type sendUnaryData, type ServerWritableStream } from "@grpc/grpc-js";
import { systemClock } from "../../../../src/shared/base/clock/clock.js";
import { PluginCallError, STATUS } from "../../../../src/shared/kubernetes/plugins/call-error.js";
import { PluginConnection } from "../../../../src/shared/kubernetes/plugins/connection.js";
import {
  DevicePluginService,
  type AllocateResponse,
  type DevicePluginOptions,
  type Empty,
  type ListAndWatchResponse,
} from "../../../../src/shared/kubernetes/plugins/gen/deviceplugin.v1beta1.js";
import { until } from "../../../support/sources-kit.js";

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
      (error) => error instanceof PluginCallError && error.code === STATUS.INVALID_ARGUMENT,
    );
  }
});

test("a watched connection reports its loss and its return, with and without calls meanwhile", async (context) => {
  const socket = await socketPath(context);
  const connection = new PluginConnection(socket, systemClock);
  const seen: boolean[] = [];
  connection.watch((connected) => void seen.push(connected));
  const reported = (connected: boolean): Promise<void> => until(() => seen.at(-1) === connected);
  await reported(false);
  for (const calls of [false, true]) {
    const server = await serve(context, socket);
    await reported(true);
    server.forceShutdown();
    await rm(socket, { force: true });
    await reported(false);
    if (calls)
      await assert.rejects(connection.call(getDevicePluginOptions, {}, { timeoutMs: 60_000 }), PluginCallError);
  }
  await serve(context, socket);
  await reported(true);
  const known = seen.length;
  connection[Symbol.dispose]();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(seen.length, known, "nothing is reported after the end");
});

const { listAndWatch } = DevicePluginService;
type Lists = ServerWritableStream<Empty, ListAndWatchResponse>;

/** A plugin that sends with `send` as soon as it is asked. */
async function sending(context: TestContext, send: (stream: Lists) => void): Promise<PluginConnection> {
  const socket = await socketPath(context);
  const server = new Server();
  server.addService({ listAndWatch }, { listAndWatch: send });
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix://${socket}`, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    );
  });
  context.after(() => server.forceShutdown());
  const connection = new PluginConnection(socket, systemClock);
  context.after(() => connection[Symbol.dispose]());
  return connection;
}

const listOf = (id: string): ListAndWatchResponse => ({
  devices: [{ ID: id, health: "Healthy", topology: undefined }],
});
const never = new AbortController().signal;
const FLOOD = 1000;

test("of a flood of lists the first and the newest are taken, and few between them", async (context) => {
  const connection = await sending(context, (stream) => {
    for (let count = 1; count <= FLOOD; count++) stream.write(listOf(`d${count}`));
  });
  const taken: string[] = [];
  const ending = new AbortController();
  const take = (bytes: Buffer): Promise<void> => {
    const id = listAndWatch.responseDeserialize(bytes).devices[0]?.ID ?? "";
    taken.push(id);
    if (id === `d${FLOOD}`) ending.abort(new Error("seen"));
    return Promise.resolve();
  };
  await assert.rejects(connection.newest(listAndWatch, {}, { gapMs: 200, take }, ending.signal), PluginCallError);
  assert.equal(taken[0], "d1");
  assert.ok(taken.length < FLOOD / 10, `${taken.length} of ${FLOOD}`);
});

test("a list that is refused ends the stream with the reason, and one that the plugin ends is processed before", async (context) => {
  const flooding = await sending(context, (stream) => stream.write(listOf("a")));
  const refuse = (): Promise<void> => Promise.reject(new Error("too many"));
  await assert.rejects(flooding.newest(listAndWatch, {}, { gapMs: 1, take: refuse }, never), /too many/);
  const ending = await sending(context, (stream) => {
    stream.write(listOf("a"));
    stream.end();
  });
  let done = false;
  const take = async (): Promise<void> => {
    await new Promise((resolve) => setImmediate(resolve));
    done = true;
  };
  await ending.newest(listAndWatch, {}, { gapMs: 60_000, take }, never);
  assert.equal(done, true);
});

test("messages of a paced stream are decoded when they are handled, not as they arrive", async (context) => {
  const connection = await sending(context, (stream) => {
    for (let count = 0; count < 10; count++) stream.write(listOf(`d${count}`));
    stream.end();
  });
  let [decoded, handled, ahead] = [0, 0, 0];
  const counting = {
    ...listAndWatch,
    responseDeserialize: (bytes: Buffer): ListAndWatchResponse => {
      ahead = Math.max(ahead, ++decoded - handled);
      return listAndWatch.responseDeserialize(bytes);
    },
  };
  await connection.stream(counting, {}, () => void handled++, never, 20);
  assert.deepEqual([decoded, handled, ahead], [10, 10, 1]);
});

test("a message that cannot be decoded ends its stream with the reason", async (context) => {
  const connection = await sending(context, (stream) => stream.write(listOf("a")));
  const broken = {
    ...listAndWatch,
    responseDeserialize: (): ListAndWatchResponse => {
      throw new Error("too long");
    },
  };
  await assert.rejects(
    connection.stream(broken, {}, () => undefined, never, 5),
    /could not be handled: too long/,
  );
});

test("the messages of a paced stream all arrive, in their order", async (context) => {
  const connection = await sending(context, (stream) => {
    for (const id of ["a", "b", "c"]) stream.write(listOf(id));
    stream.end();
  });
  const seen: (string | undefined)[] = [];
  await connection.stream(listAndWatch, {}, ({ devices }) => seen.push(devices[0]?.ID), never, 5);
  assert.deepEqual(seen, ["a", "b", "c"]);
});

test("a response of more than four megabytes fails its call with both sizes", async (context) => {
  const socket = await socketPath(context);
  const server = new Server();
  const { allocate } = DevicePluginService;
  const envs = { A: "x".repeat(4 * 1024 * 1024) };
  server.addService(
    { allocate },
    {
      allocate: (_call: unknown, answer: sendUnaryData<AllocateResponse>) =>
        answer(null, { containerResponses: [{ envs, mounts: [], devices: [], annotations: {}, cdiDevices: [] }] }),
    },
  );
  await new Promise<void>((resolve) => {
    server.bindAsync(`unix://${socket}`, ServerCredentials.createInsecure(), () => resolve());
  });
  context.after(() => server.forceShutdown());
  using connection = new PluginConnection(socket, systemClock);
  const call = connection.call(allocate, { containerRequests: [] }, { timeoutMs: 60_000 });
  await assert.rejects(call, /Received message larger than max \(41\d+ vs 4194304\)/);
});
