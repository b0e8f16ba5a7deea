// grpc probes against health services made with grpc-js, and against other servers.

import assert from "node:assert/strict";
import { createServer as createHttp2Server } from "node:http2";
import { createServer as createTcpServer } from "node:net";
import { test, type TestContext } from "node:test";
import { Metadata, Server, ServerCredentials, status, type sendUnaryData, type ServerUnaryCall } from "@grpc/grpc-js";
import type { RunResult } from "../../../src/shared/node/probes/run.js";
import { closedPort, timeWaits, listen, openSockets, PATIENCE_MS, runPeerProbe } from "../../support/probe-kit.js";
import { until } from "../../support/sources-kit.js";

type Call = ServerUnaryCall<Buffer, Buffer>;
type Check = (service: string, answer: sendUnaryData<Buffer>, call: Call) => void;

const raw = (bytes: Buffer): Buffer => bytes;
/** HealthCheckRequest and HealthCheckResponse by hand: field 1 of each. */
const serviceOf = (request: Buffer): string => (request.length === 0 ? "" : request.subarray(2).toString());
const reply = (serving: number): Buffer => Buffer.from(serving === 0 ? [] : [0x08, serving]);

async function health(t: TestContext, check: Check | undefined): Promise<number> {
  const server = new Server();
  const definition = {
    path: check === undefined ? "/some.Other/Check" : "/grpc.health.v1.Health/Check",
    requestStream: false,
    responseStream: false,
    requestSerialize: raw,
    requestDeserialize: raw,
    responseSerialize: raw,
    responseDeserialize: raw,
  } as const;
  server.addService(
    { check: definition },
    {
      check: (call: Call, answer: sendUnaryData<Buffer>) => check?.(serviceOf(call.request), answer, call),
    },
  );
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  t.after(() => server.forceShutdown());
  return port;
}

const probe = (port: number, service = "", timeoutMs = PATIENCE_MS): Promise<RunResult> =>
  runPeerProbe({ type: "grpc", host: "127.0.0.1", port, service }, timeoutMs);

test("the service's name and the user agent arrive; SERVING is success", async (t) => {
  const seen: string[] = [];
  const port = await health(t, (service, answer, { metadata }) => {
    seen.push(service, String(metadata.get("user-agent")[0]));
    answer(null, reply(1));
  });
  assert.deepEqual(await probe(port, "shop"), { outcome: "success", output: "service healthy" });
  assert.deepEqual(seen, ["shop", "kube-probe/1.36"]);
});

for (const [serving, name] of ["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"].entries()) {
  if (name === "SERVING") continue;
  test(name, async (t) => {
    const port = await health(t, (_service, answer) => answer(null, reply(serving)));
    assert.deepEqual(await probe(port), {
      outcome: "failure",
      output: `service unhealthy (responded with "${name}")`,
    });
  });
}

test("a server without the health service", async (t) => {
  const port = await health(t, undefined);
  const { outcome, output } = await probe(port);
  assert.equal(outcome, "failure");
  assert.match(
    output,
    /^error: this server does not implement the grpc health protocol \(grpc\.health\.v1\.Health\): ./,
  );
});

test("an error of the service, its text decoded", async (t) => {
  const port = await health(t, (_service, answer) =>
    answer({ code: status.NOT_FOUND, details: "no such säule", metadata: new Metadata() }),
  );
  assert.deepEqual(await probe(port), { outcome: "failure", output: "error: health rpc probe failed: no such säule" });
});

test("a service that does not respond", async (t) => {
  const port = await health(t, () => undefined);
  assert.deepEqual(await probe(port, "", 1000), {
    outcome: "failure",
    output: "timeout: health rpc did not complete within 1s",
  });
});

const notConnected = (port: number, within: string): RunResult => ({
  outcome: "failure",
  output: `timeout: failed to connect service "127.0.0.1:${port}" within ${within}: context deadline exceeded`,
});

test("a port without a listener is tried until the time is up", async () => {
  const port = await closedPort(createTcpServer());
  assert.deepEqual(await probe(port, "", 200), notConnected(port, "200ms"));
});

test("a connection that ends before the server's settings is made again", async (t) => {
  const server = createHttp2Server((_request, response) => response.writeHead(404).end("nothing here"));
  let connections = 0;
  const front = createTcpServer((socket) => {
    if (connections++ === 0) socket.destroy();
    else server.emit("connection", socket);
  });
  const { outcome, output } = await probe(await listen(t, front));
  assert.deepEqual(
    [connections, outcome, output],
    [2, "failure", "error: health rpc probe failed: unexpected HTTP status code 404"],
  );
});

test("the server speaks HTTP/2 but no gRPC", async (t) => {
  const server = createHttp2Server((_request, response) => response.writeHead(404).end("nothing here"));
  const port = await listen(t, server);
  assert.deepEqual(await probe(port), {
    outcome: "failure",
    output: "error: health rpc probe failed: unexpected HTTP status code 404",
  });
});

test("the server speaks no HTTP/2", async (t) => {
  const port = await listen(
    t,
    createTcpServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")),
  );
  assert.deepEqual(await probe(port, "", 300), notConnected(port, "300ms"));
});

test("leaves nothing in TIME_WAIT", async (t) => {
  const port = await health(t, (_service, answer) => answer(null, reply(1)));
  const waiting = timeWaits(port);
  for (let run = 0; run < 20; run++) assert.equal((await probe(port)).outcome, "success");
  assert.equal(waiting(), 0);
});

test("no socket is left behind, however the other side ends it", async (t) => {
  const ports: number[] = [];
  for (const text of ["HTTP/1.1 400 Bad Request\r\n\r\n", ""]) {
    ports.push(
      await listen(
        t,
        createTcpServer((socket) => socket.resume().end(text)),
      ),
    );
  }
  const before = openSockets();
  for (let run = 0; run < 10; run++) for (const port of ports) await probe(port, "", 50);
  await until("the sockets are closed", () => openSockets() <= before, PATIENCE_MS);
});
