// Which channel a client takes: the flag's, and that of grpc-js after the runtime broke HTTP/2 on our own.

import assert from "node:assert/strict";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { systemClock } from "../../../../src/shared/base/clock/clock.js";
import { clientReports } from "../../../../src/shared/kubernetes/cri/client-reports.js";
import { createCriClient } from "../../../../src/shared/kubernetes/cri/client.js";
import { CriUnavailableError } from "../../../../src/shared/kubernetes/cri/errors.js";
import { createLogger } from "../../../../src/shared/telemetry/log/logger.js";
import { ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";
import { startFakeCri } from "../../../fake-cri/fake-cri.js";
import { socketPath } from "./support.js";

/** What our channel says to a server: its first settings name MAX_HEADER_LIST_SIZE, those of grpc-js do not. */
async function firstBytes(context: TestContext, channel: "own" | "grpc-js"): Promise<string> {
  const path = await socketPath(context);
  const server = createServer();
  context.after(() => server.close());
  server.listen(path);
  await once(server, "listening");
  const client = createCriClient({ endpoint: path, runtimeRequestTimeoutMs: 5000, clock: systemClock, channel });
  const call = client.version({}).catch((error: unknown) => error);
  const [socket] = (await once(server, "connection")) as [Socket];
  const [bytes] = (await once(socket, "data")) as [Buffer];
  socket.destroy();
  client.close();
  assert.ok((await call) instanceof Error);
  return bytes.subarray(24).toString("hex");
}

test("the flag chooses the channel", async (context) => {
  assert.match(await firstBytes(context, "own"), /^0000120400000000000002000000000004001000000006/);
  assert.doesNotMatch(await firstBytes(context, "grpc-js"), /^000012040000000000000200000000000400100000/);
});

test("a runtime that breaks HTTP/2 gets the channel of grpc-js, with one line and one count", async (context) => {
  const path = await socketPath(context);
  // Speaks HTTP/2, and then sends a PING that is too short.
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => undefined));
    socket.write(Buffer.from("000000040000000000" + "000001060000000000" + "00", "hex"));
  });
  server.listen(path);
  await once(server, "listening");
  const registry = new ThreadRegistry("main");
  const lines: string[] = [];
  const log = createLogger({ thread: "main", level: "silent" });
  log.warn = (_fields: object, line?: string) => void lines.push(line ?? "");
  const client = createCriClient({
    endpoint: `unix://${path}`,
    runtimeRequestTimeoutMs: 20_000,
    clock: systemClock,
    channel: "own",
    ...clientReports(registry, log),
  });
  context.after(() => client.close());
  await assert.rejects(client.version({}), CriUnavailableError);
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? "", /broke HTTP\/2: a PING frame .*--cri-channel=grpc-js/);
  // The same runtime again: no second line, and the call goes on by the other channel.
  await assert.rejects(client.version({}));
  const closed = once(server, "close");
  server.close();
  for (const socket of sockets) socket.destroy();
  await closed;
  await rm(path, { force: true });
  const fake = await startFakeCri({ socketPath: path });
  context.after(() => fake.stop());
  await client.version({});
  assert.equal(lines.length, 1);
  const { families } = await registry.exportSnapshot();
  const counted = families.find(({ name }) => name === "nodelet_cri_channel_fallbacks_total");
  assert.deepEqual(
    counted?.samples.map(({ value }) => value),
    [1],
  );
});
