// Hooks of each kind against a fake runtime and real HTTP servers: what counts as success, and the words of a failure.
// @promise Probes and hooks: HTTP hooks and probes: status 101 is a response, endless informational responses are a
//   failure.
// @with test/workers/peers/http.test.ts

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type RequestListener, type Server as HttpServer } from "node:http";
import { createServer as createSecure } from "node:https";
import { createServer as createRawServer, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { HookError } from "../../../../../src/main/containers/runtime/hooks/hook-error.js";
import { portOf, userAgent } from "../../../../../src/main/containers/runtime/hooks/http-hook.js";
import { runHook } from "../../../../../src/main/containers/runtime/hooks/run-hook.js";
import type { LifecycleHandler } from "../../../../../src/shared/kubernetes/api/pod.js";
import { containerIdOf } from "../../../../../src/shared/kubernetes/identifiers.js";
import { runPod } from "../../../../shared/kubernetes/cri/support.js";
import { temporaryFolder, until } from "../../../../support/sources-kit.js";
import { app, never, podOf, runtimeOn } from "../runtime-kit.js";

type FakeOptions = Parameters<typeof runtimeOn>[1];

async function build(t: TestContext, options: FakeOptions = {}, podIP = "127.0.0.1") {
  const world = await runtimeOn(t, options);
  const { containerId } = await runPod(world.client, "web");
  const container = app({ ports: [{ name: "admin", containerPort: 1 }] });
  const id = containerIdOf(containerId);
  const target = {
    pod: podOf(container),
    container,
    containerId: id,
    podIP: () => Promise.resolve(podIP || undefined),
  };
  const run = (handler: LifecycleHandler, signal = never) => runHook(world.runtime, target, handler, signal);
  return { ...world, container, run };
}

const failsWith = (run: Promise<void>, message: string | RegExp): Promise<void> =>
  assert.rejects(run, (error) => {
    assert.ok(error instanceof HookError, String(error));
    if (typeof message === "string") assert.equal(error.message, message);
    else assert.match(error.message, message);
    return true;
  });

const IN_POD = 'for Container "app" in Pod "web_default(uid-web)" failed - error';

test("a command that ends with 0 is a success, any other status a failure with its output", async (t) => {
  const world = await build(t, {
    exec: (_id, [command]) =>
      command === "true" ? {} : { exitCode: 3, stdout: "half way\n", stderr: `no "such" thing` },
  });
  await world.run({ exec: { command: ["true"] } });
  await failsWith(
    world.run({ exec: { command: ["sh", "-c", "exit 3"] } }),
    `Exec lifecycle hook ([sh -c exit 3]) ${IN_POD}: command 'sh -c exit 3' exited with 3: no "such" thing, ` +
      `message: "half way\\nno \\"such\\" thing"`,
  );
  assert.deepEqual(world.calls("ExecSync")[0], {
    containerId: [...world.fake.state.containers.keys()][0],
    cmd: ["true"],
    timeout: 0n,
  });
});

test("of a command's output 10 KiB are shown", async (t) => {
  const world = await build(t, { exec: () => ({ exitCode: 1, stdout: "x".repeat(50_000) }) });
  await failsWith(world.run({ exec: { command: ["yes"] } }), /message: "x{10240}"$/);
});

test("a command that cannot be run fails with the runtime's words", async (t) => {
  const world = await build(t);
  world.fake.failpoint("ExecSync", "error(UNKNOWN: OCI runtime exec failed: no such file)");
  await failsWith(
    world.run({ exec: { command: ["nope"] } }),
    /error: rpc error: code = Unknown desc = OCI runtime exec failed: no such file, message: ""$/,
  );
});

test("an abort ends the wait for a command or a sleep at once, and is no failure of the hook", async (t) => {
  const world = await build(t, { exec: () => ({ runMs: 3_600_000 }) });
  for (const handler of [{ exec: { command: ["sleep"] } }, { sleep: { seconds: 3600 } }]) {
    const abort = new AbortController();
    const begun = world.calls("ExecSync").length;
    const running = world.run(handler, abort.signal);
    const ended = assert.rejects(running, /the pod goes/);
    if ("exec" in handler) await until("it runs", () => world.calls("ExecSync").length > begun);
    abort.abort(new Error("the pod goes"));
    await ended;
  }
  assert.deepEqual(
    world.counted.filter((what) => what.includes("sleep")),
    ["sleep cut short"],
  );
  // The command is let go of: should it not end with its container, it is cancelled later.
  assert.equal(world.clock.pending, 1);
  world.clock.step(10_000);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(world.clock.pending, 0);
});

test("a sleep lasts its set time; zero returns at once", async (t) => {
  const world = await build(t);
  let over = false;
  const sleeping = world.run({ sleep: { seconds: 5 } }).then(() => (over = true));
  await new Promise((resolve) => setImmediate(resolve));
  world.clock.step(4999);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(over, false);
  world.clock.step(1);
  await sleeping;
  const none = world.run({ sleep: { seconds: 0 } });
  world.clock.step(0);
  await none;
});

test("a TCP handler is valid in a definition and never run", async (t) => {
  const world = await build(t);
  await failsWith(world.run({ tcpSocket: { port: 80 } }), "Cannot run handler: invalid handler: tcpSocket");
});

interface Seen {
  path: string;
  headers: IncomingMessage["headers"];
}

async function serve(t: TestContext, listener: RequestListener, secure?: { key: string; cert: string }) {
  const seen: Seen[] = [];
  const answer: RequestListener = (request, response) => {
    seen.push({ path: request.url ?? "", headers: request.headers });
    listener(request, response);
  };
  const server: HttpServer = secure === undefined ? createServer(answer) : createSecure(secure, answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { seen, port: (server.address() as AddressInfo).port };
}

/** A server of raw bytes; its port. */
async function serveRaw(t: TestContext, onRequest: (socket: Socket) => void): Promise<number> {
  const server = createRawServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => onRequest(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

test("101 Switching Protocols is a response like any other", { timeout: 120_000 }, async (t) => {
  const world = await build(t);
  const port = await serveRaw(t, (socket) =>
    socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"),
  );
  await world.run({ httpGet: { port } });
});

test("a server that sends informational responses without end fails the hook", { timeout: 120_000 }, async (t) => {
  const world = await build(t);
  const port = await serveRaw(t, (socket) => socket.write("HTTP/1.1 103 Early Hints\r\n\r\n".repeat(30_000)));
  await failsWith(world.run({ httpGet: { port } }), /server response headers exceeded 524288 bytes; aborted$/);
});

test("any response to an HTTP request is a success; the standard headers are sent", async (t) => {
  const world = await build(t);
  const { seen, port } = await serve(t, (_request, response) => response.writeHead(500).end("x".repeat(100_000)));
  await world.run({ httpGet: { port, path: "drain?now=1", httpHeaders: [{ name: "X-A", value: "1" }] } });
  assert.equal(seen[0]?.path, "/drain?now=1");
  const headers = seen[0].headers;
  assert.deepEqual(
    [headers["user-agent"], headers.accept, headers["x-a"], headers.connection, headers.host],
    ["kube-lifecycle/1.36", "*/*", "1", "close", `127.0.0.1:${port}`],
  );
  assert.equal(headers["accept-encoding"], "gzip");
});

test("given headers win, an empty Accept takes the standard one away, Host is honoured", async (t) => {
  const world = await build(t);
  const { seen, port } = await serve(t, (_request, response) => response.end());
  const httpHeaders = [
    { name: "accept", value: "" },
    { name: "user-agent", value: "mine" },
    { name: "Host", value: "example.test" },
    { name: "X-Many", value: "1" },
    { name: "x-many", value: "2" },
  ];
  await world.run({ httpGet: { port: String(port), host: "127.0.0.1", httpHeaders } });
  const headers = seen[0]?.headers ?? {};
  assert.deepEqual(
    [headers.accept, headers["user-agent"], headers.host, headers["x-many"]],
    [undefined, "mine", "example.test", "1, 2"],
  );
});

test("a refused connection and a pod without address are failures", async (t) => {
  const world = await build(t);
  await failsWith(
    world.run({ httpGet: { port: "admin", path: "/stop" } }),
    `HTTP lifecycle hook (/stop) ${IN_POD}: Get "http://127.0.0.1:1/stop": dial tcp 127.0.0.1:1: connect: connection refused`,
  );
  await failsWith(world.run({ httpGet: { port: "unknown" } }), /port unknown is neither/);
  const other = await build(t, {}, "");
  await failsWith(other.run({ httpGet: { port: 80 } }), /the pod has no address/);
});

test("an HTTP hook without a response is ended by an abort", async (t) => {
  const world = await build(t);
  const { seen, port } = await serve(t, () => undefined);
  const abort = new AbortController();
  const ended = assert.rejects(world.run({ httpGet: { port } }, abort.signal), /enough/);
  await until("the request is there", () => seen.length === 1);
  abort.abort(new Error("enough"));
  await ended;
});

test("redirects on the same host are followed, ten at most; one to another host is a response", async (t) => {
  const world = await build(t);
  let to = "/next";
  const { seen, port } = await serve(t, (request, response) => {
    if (request.url === "/next") response.end();
    else response.writeHead(302, { location: to }).end();
  });
  await world.run({ httpGet: { port } });
  assert.deepEqual(
    seen.map(({ path }) => path),
    ["/", "/next"],
  );
  to = "http://elsewhere.invalid/";
  await world.run({ httpGet: { port } });
  to = "/again";
  await failsWith(world.run({ httpGet: { port } }), /stopped after 10 redirects$/);
});

async function selfSigned(t: TestContext): Promise<{ key: string; cert: string }> {
  const folder = await temporaryFolder(t);
  const [key, cert] = [join(folder, "key"), join(folder, "cert")];
  const subject = ["-subj", "/CN=nobody", "-days", "1"];
  await promisify(execFile)("openssl", [
    ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"],
    ...["-keyout", key, "-out", cert, ...subject],
  ]);
  return { key: await readFile(key, "utf8"), cert: await readFile(cert, "utf8") };
}

test("a certificate without a trusted signer is accepted", async (t) => {
  const world = await build(t);
  const { seen, port } = await serve(t, (_request, response) => response.end(), await selfSigned(t));
  await world.run({ httpGet: { port, scheme: "HTTPS" } });
  assert.equal(seen.length, 1);
  assert.deepEqual(world.events, []);
});

test("an HTTPS request with a response without TLS is repeated without TLS, and without the secret", async (t) => {
  const world = await build(t);
  const { seen, port } = await serve(t, (_request, response) => response.end());
  const httpHeaders = [
    { name: "authorization", value: "Bearer secret" },
    { name: "X-A", value: "1" },
  ];
  await world.run({ httpGet: { port, scheme: "HTTPS", path: "/stop", httpHeaders } });
  assert.deepEqual([seen[0]?.path, seen[0]?.headers["x-a"], seen[0]?.headers.authorization], ["/stop", "1", undefined]);
  assert.deepEqual(world.events, [
    `web  Warning LifecycleHTTPFallback: request to HTTPS lifecycle hook 127.0.0.1:${port} got HTTP response, retry with HTTP succeeded`,
  ]);
  assert.ok(world.counted.includes("http fallback"));
});

test("rules of port and user agent", () => {
  const container = app({ ports: [{ name: "http", containerPort: 8080 }] });
  for (const [port, expected] of [
    [81, 81],
    ["82", 82],
    ["http", 8080],
  ] as const) {
    assert.equal(portOf({ port }, container), expected);
  }
  for (const port of ["", "other", 0, 65536, "65536"]) assert.throws(() => portOf({ port }, container), /neither/);
  assert.equal(userAgent("v1.36.2+vendor"), "kube-lifecycle/1.36");
});
