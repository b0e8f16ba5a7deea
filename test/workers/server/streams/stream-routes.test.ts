// exec, attach and portForward through the authenticated port, against a streaming server that stands in for the
// runtime's.
// @promise Server: One pod has at most half of the node's places for exec streams, log followers and their inotify
//   instances.
// @with test/workers/server/logs/pods/container-logs.test.ts

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { connect, type TLSSocket } from "node:tls";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { criError, type CriCode } from "../../../../src/shared/kubernetes/cri/errors.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import type { ServedRuntime } from "../../../../src/workers/server/pods/runtime.js";
import { showPods } from "../../../support/pod-list.js";
import { pod } from "../../../support/pods.js";
import { until } from "../../../support/sources-kit.js";
import { RunningClock } from "../../../support/stepped-clock.js";
import { Certificates, SecurePort, type SecurePortOptions } from "../ports/secure-port-kit.js";

let certificates: Certificates;
let server: SecurePort;
/** The runtime's streaming server: what it was asked, and the connections it switched. */
let streaming: Server;
let requests: IncomingMessage[];
let switched: Socket[];
let onSwitched: (socket: Socket) => void;
let asked: [verb: string, request: object][];

before(async () => {
  certificates = await Certificates.create();
});
after(() => certificates.remove());

beforeEach(async () => {
  [requests, switched, asked] = [[], [], []];
  onSwitched = (socket) => socket.pipe(socket);
  streaming = createServer((request, response) => {
    requests.push(request);
    response.writeHead(403, { "Content-Type": "text/plain" }).end("no such stream");
  });
  streaming.on("upgrade", (request: IncomingMessage, socket: Socket) => {
    requests.push(request);
    switched.push(socket);
    socket.on("error", () => undefined);
    socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: SPDY/3.1\r\nConnection: Upgrade\r\nX-Own: yes\r\n\r\n");
    onSwitched(socket);
  });
  streaming.listen(0, "127.0.0.1");
  await once(streaming, "listening");
});
afterEach(async () => {
  await server.close();
  for (const socket of switched) socket.destroy();
  streaming.closeAllConnections();
  streaming.close();
});

function runtime(url?: string): Partial<ServedRuntime> {
  const { port } = streaming.address() as AddressInfo;
  const answer = (verb: string) => (request: object) => {
    asked.push([verb, request]);
    return Promise.resolve({ url: url ?? `http://127.0.0.1:${port}/${verb}/token` });
  };
  const found = (id: string) => ({ id, createdAt: 1n });
  return {
    exec: answer("exec"),
    attach: answer("attach"),
    portForward: answer("portForward"),
    listContainers: ((request: { filter: { labelSelector: Record<string, string> } }) =>
      Promise.resolve({
        containers: request.filter.labelSelector["io.kubernetes.container.name"] === "app" ? [found("c1")] : [],
      })) as unknown as ServedRuntime["listContainers"],
    listPodSandbox: (() => Promise.resolve({ items: [found("s1")] })) as unknown as ServedRuntime["listPodSandbox"],
  };
}

async function open(options: SecurePortOptions = {}, web: Pod = pod()): Promise<void> {
  server = await new SecurePort(certificates).open({ runtime: runtime(), ...options });
  showPods(server.pods, [web]);
}

interface Opened {
  socket: TLSSocket;
  head: string;
  /** Bytes received after the head so far. */
  seen: () => string;
}

async function upgrade(
  path: string,
  { method = "POST", headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<Opened> {
  const socket = connect({ host: "127.0.0.1", port: server.port, ca: certificates.ca.pair.cert });
  socket.on("error", () => undefined);
  let text = "";
  socket.setEncoding("latin1").on("data", (part: string) => (text += part));
  const fields = { Host: "node", Connection: "Upgrade", Upgrade: "SPDY/3.1", ...headers };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`);
  await until(() => text.includes("\r\n\r\n") || socket.destroyed);
  const end = text.indexOf("\r\n\r\n") + 4;
  return { socket, head: text.slice(0, end), seen: () => text.slice(end) };
}

describe("a stream", () => {
  test("passes bytes both ways as they are, megabytes of them", async () => {
    await open();
    const { socket, head, seen } = await upgrade("/exec/default/web/app?command=sh&command=-c&input=1&output=1");
    match(head, /^HTTP\/1\.1 101 Switching Protocols\r\n[^]*X-Own: yes\r\n/);
    const sent = Buffer.alloc(3_000_000, "\0\x01\xffabc", "latin1");
    socket.write(sent);
    await until(() => seen().length === sent.length);
    ok(Buffer.from(seen(), "latin1").equals(sent));
    socket.end();
    await until(() => switched[0]?.destroyed === true);
  });

  test("takes the request along without the client's credentials", async () => {
    await open();
    const headers = {
      Authorization: "Bearer secret",
      Cookie: "a=b",
      "Impersonate-User": "x",
      "X-Stream-Protocol-Version": "v4.channel.k8s.io",
      "Sec-WebSocket-Protocol": "v4.channel.k8s.io, base64url.bearer.authorization.k8s.io.c2VjcmV0",
    };
    const { socket } = await upgrade("/exec/default/web/app?output=1&command=ls", { method: "GET", headers });
    const [request] = requests;
    deepEqual([request?.method, request?.url], ["GET", "/exec/token"]);
    const { host, ...rest } = request?.headers ?? {};
    match(host ?? "", /^127\.0\.0\.1:\d+$/);
    deepEqual(rest, {
      connection: "Upgrade",
      upgrade: "SPDY/3.1",
      "x-stream-protocol-version": "v4.channel.k8s.io",
      "sec-websocket-protocol": "v4.channel.k8s.io",
    });
    socket.destroy();
  });

  test("requests the stream with the options of the query", async () => {
    const terminal = pod({ containers: [{ name: "app", image: "i", tty: true }] });
    await open({}, terminal);
    const paths = [
      "/exec/default/web/app?command=a%20b&command=&input=1&output=1&error=1",
      "/exec/default/web/uid-web/app?command=sh&output=1&error=1&tty=1",
      "/attach/default/web/app?output=1&error=1",
      "/portForward/default/web",
      "/portForward/default/web/uid-web",
    ];
    for (const path of paths) (await upgrade(path)).socket.destroy();
    const websocket = { method: "GET", headers: { Upgrade: "websocket" } };
    (await upgrade("/portForward/default/web?port=80,81&port=82", websocket)).socket.destroy();
    const streams = { stdin: false, stdout: true, stderr: false, tty: true };
    deepEqual(asked, [
      ["exec", { containerId: "c1", cmd: ["a b", ""], stdin: true, stdout: true, stderr: true, tty: false }],
      ["exec", { containerId: "c1", cmd: ["sh"], ...streams }],
      ["attach", { containerId: "c1", ...streams }],
      ["portForward", { podSandboxId: "s1", port: [] }],
      ["portForward", { podSandboxId: "s1", port: [] }],
      ["portForward", { podSandboxId: "s1", port: [80, 81, 82] }],
    ]);
  });

  test("by the UID of a static pod's mirror is one by the pod's own", async () => {
    await open();
    server.mirrorUids["default/web"] = podUid("uid-mirror");
    for (const path of ["/exec/default/web/uid-mirror/app?output=1", "/portForward/default/web/uid-mirror"]) {
      (await upgrade(path)).socket.destroy();
    }
    deepEqual(
      asked.map(([verb]) => verb),
      ["exec", "portForward"],
    );
    deepEqual((await server.ask("/portForward/default/web/uid-older-mirror")).status, 404);
    showPods(
      server.pods,
      [pod({}, "web", "uid-web")].map((one) => ({ ...one, metadata: { ...one.metadata, annotations: {} } })),
    );
    deepEqual((await server.ask("/portForward/default/web/uid-mirror")).status, 404);
  });

  test("ends at both sides when the runtime ends it, with all output", async () => {
    onSwitched = (socket) => socket.end("last words");
    await open();
    const { socket, seen } = await upgrade("/attach/default/web/app?output=1");
    await until(() => socket.readableEnded);
    equal(seen(), "last words");
    socket.end();
    await until(() => switched[0]?.destroyed === true);
  });

  test("on which nothing moves is closed, one that is used is not", async () => {
    using clock = new RunningClock();
    await open({ clock });
    const idle = await upgrade("/exec/default/web/app?output=1");
    const used = await upgrade("/exec/default/web/app?output=1");
    for (let quarter = 0; quarter < 4; quarter++) {
      used.socket.write("x");
      await until(() => used.seen().length === quarter + 1);
      clock.step(15_000);
    }
    clock.step(15_000);
    await until(() => idle.socket.destroyed);
    equal(used.socket.destroyed, false);
    used.socket.destroy();
    await until(() => switched.every((socket) => socket.destroyed));
  });
});

describe("no stream", () => {
  const refused = async (path: string, options: Parameters<typeof upgrade>[1] = {}): Promise<[number, string]> => {
    const { socket, head, seen } = await upgrade(path, options);
    await until(() => socket.readableEnded);
    socket.end();
    return [Number(head.slice(9, 12)), seen()];
  };

  test("gets a response in upstream's words", async () => {
    await open();
    const websocket = { method: "GET", headers: { Upgrade: "websocket" } };
    deepEqual(await refused("/exec/default/web/app?command=ls"), [
      400,
      "you must specify at least 1 of stdin, stdout, stderr",
    ]);
    deepEqual(await refused("/exec/default/other/app?output=1"), [404, "pod does not exist"]);
    deepEqual(await refused("/portForward/default/web/uid-old"), [404, "pod not found"]);
    deepEqual(await refused("/exec/default/web/gone?output=1"), [500, 'container not found ("gone")']);
    deepEqual(await refused("/portForward/default/web", websocket), [400, 'query parameter "port" is required']);
    deepEqual(await refused("/portForward/default/web?port=0", websocket), [400, 'port "0" must be > 0']);
    deepEqual(await refused("/portForward/default/web?port=x", websocket), [400, 'unable to parse "x" as a port']);
    deepEqual(await refused("/attach/default/web/gone?output=1"), [500, "container gone not found in pod web_default"]);
    const { status, body } = await server.ask("/exec/default/web/app?output=1");
    deepEqual([status, body], [500, "Upgrade request required\n"]);
    equal(asked.length, 0);
  });

  test("without an upgrade is answered for its container or sandbox first", async () => {
    await open();
    const ask = async (path: string): Promise<[number, string]> => {
      const { status, body } = await server.ask(path);
      return [status, body];
    };
    deepEqual(await ask("/exec/default/web/gone?output=1"), [500, 'container not found ("gone")']);
    deepEqual(await ask("/attach/default/web/gone?output=1"), [500, "container gone not found in pod web_default"]);
    deepEqual(await ask("/portForward/default/web"), [500, "Upgrade request required\n"]);
    await server.close();
    const none = (() => Promise.resolve({ items: [] })) as unknown as ServedRuntime["listPodSandbox"];
    await open({ runtime: { ...runtime(), listPodSandbox: none } });
    deepEqual(await ask("/portForward/default/web"), [500, 'pod not found ("web_default")']);
    equal(asked.length, 0);
  });

  test("that the runtime cannot serve: the status and the text of its error are upstream's", async () => {
    const failing = (code: CriCode): Promise<void> => {
      const error = criError({ code, verb: "Exec", details: "no room", endpoint: "unix:///run/x" });
      return open({ runtime: { ...runtime(), exec: () => Promise.reject(error) } });
    };
    for (const [code, status, name] of [
      ["NOT_FOUND", 404, "NotFound"],
      ["RESOURCE_EXHAUSTED", 429, "ResourceExhausted"],
      ["UNKNOWN", 500, "Unknown"],
    ] as const) {
      await failing(code);
      const { socket, head, seen } = await upgrade("/exec/default/web/app?output=1");
      await until(() => socket.readableEnded);
      socket.end();
      deepEqual([Number(head.slice(9, 12)), seen()], [status, `rpc error: code = ${name} desc = no room`]);
      equal(/^Retry-After: 60\r$/m.test(head), status === 429);
      await server.close();
    }
    await open();
  });

  test("to an address that is not this machine's loopback", async () => {
    for (const url of ["http://192.0.2.1:80/exec/x", "http://127.0.0.1.evil/", "file:///etc/passwd", "nonsense"]) {
      await open({ runtime: runtime(url) });
      const [status, text] = await refused("/exec/default/web/app?output=1");
      equal(status, 500);
      match(text, /^the runtime serves the stream at /);
      await server.close();
    }
  });

  test("when the runtime refuses it: its words are passed on", async () => {
    await open();
    streaming.removeAllListeners("upgrade");
    deepEqual(await refused("/exec/default/web/app?output=1"), [403, "no such stream"]);
  });

  test("beyond the limit: a flood is turned away, those that are open go on", async () => {
    await open({ limits: { streams: 8 } });
    showPods(server.pods, [pod(), pod({}, "other", "uid-other")]);
    const flood = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        upgrade(`/exec/default/${i % 2 === 0 ? "web" : "other"}/app?output=1`, { headers: { Upgrade: "websocket" } }),
      ),
    );
    // Which eight come first is chance: each has a connection of its own, and handshakes take turns.
    const withStatus = (status: number) => flood.filter(({ head }) => Number(head.slice(9, 12)) === status);
    equal(withStatus(101).length, 8);
    equal(withStatus(429).length, 4);
    for (const { socket, seen } of withStatus(101)) {
      socket.write("still there");
      await until(() => seen() === "still there");
    }
    for (const { socket } of flood) socket.destroy();
    await until(() => switched.every((socket) => socket.destroyed));
    (await upgrade("/exec/default/web/app?output=1")).socket.destroy();
  });

  test("of one pod beyond half of the node's: another pod still gets one, and an end makes room", async () => {
    await open({ limits: { streams: 8 } });
    showPods(server.pods, [pod(), pod({}, "other", "uid-other")]);
    const web = "/exec/default/web/app?output=1";
    const streams = [await upgrade(web), await upgrade(web), await upgrade(web), await upgrade(web)];
    const [status, text] = await refused(web);
    equal(status, 429);
    match(text, /too many streams are open in this pod/);
    const other = await upgrade("/exec/default/other/app?output=1");
    match(other.head, /^HTTP\/1\.1 101 /);
    streams[0]?.socket.destroy();
    await until(() => switched[0]?.destroyed === true);
    const again = await upgrade(web);
    match(again.head, /^HTTP\/1\.1 101 /);
    for (const { socket } of [...streams, other, again]) socket.destroy();
    await until(() => switched.every((socket) => socket.destroyed));
  });

  test("for a client that disconnects before the runtime responds", async () => {
    await open();
    const held: Socket[] = [];
    streaming.removeAllListeners("upgrade");
    streaming.on("upgrade", (_request: IncomingMessage, socket: Socket) => held.push(socket));
    const client = connect({ host: "127.0.0.1", port: server.port, ca: certificates.ca.pair.cert });
    client.write("GET /exec/default/web/app?output=1 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n");
    await until(() => held.length === 1);
    client.destroy();
    held[0]?.resume();
    await until(() => held[0]?.readableEnded === true);
    held[0]?.destroy();
  });
});
