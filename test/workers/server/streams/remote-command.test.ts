// exec, attach and portForward for WebSocket clients that use v5 or tunnel SPDY, through the authenticated port. The
// streaming server uses SPDY, as the runtime's does.

import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { armFaultPoint } from "../../../../src/shared/base/faults/fault-points.js";
import { HandlerError } from "../../../../src/workers/server/clients/owned.js";
import type { ServedRuntime } from "../../../../src/workers/server/pods/runtime.js";
import { cut } from "../../../support/cut.js";
import { showPods } from "../../../support/pod-list.js";
import { pod } from "../../../support/pods.js";
import { until } from "../../../support/sources-kit.js";
import { controlFrame, SpdyPeer } from "../../../support/spdy-peer.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { ChannelSocket, clientFrame } from "../../../support/websocket.js";
import { Certificates, SecurePort, type SecurePortOptions } from "../ports/secure-port-kit.js";

const SIGN_OF_LIFE_MS = 20_000;
const MAX_MESSAGE = 1024 * 1024;
const LINGER_MS = 30_000;

const [STDOUT, STDERR, ERROR, RESIZE] = [1, 2, 3, 4];
const V5 = "v5.channel.k8s.io";
const TUNNEL = "SPDY/3.1+portforward.k8s.io";

let certificates: Certificates;
let server: SecurePort;
/** The runtime's streaming server: its address, what it was asked, the connection it switched. */
let streaming: Server;
let requests: IncomingMessage[];
let switched: Socket | undefined;
let peer: SpdyPeer;
/** The streaming server's response to an upgrade. */
let upgradeTo: Record<string, string>;

before(async () => {
  certificates = await Certificates.create();
});
after(() => certificates.remove());

beforeEach(async () => {
  requests = [];
  switched = undefined;
  upgradeTo = { Upgrade: "SPDY/3.1", "X-Stream-Protocol-Version": "v4.channel.k8s.io" };
  streaming = createServer((request, response) => {
    requests.push(request);
    response.writeHead(404).end("no such stream");
  });
  streaming.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) => {
    requests.push(request);
    switched = socket;
    socket.on("error", () => undefined);
    peer = new SpdyPeer(socket);
    const fields = Object.entries(upgradeTo).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n${fields.join("")}\r\n`);
    if (head.length > 0) peer.push(head);
    const own = peer;
    socket.on("data", (chunk: Buffer) => own.push(chunk)).once("end", () => socket.end());
  });
  streaming.listen(0, "127.0.0.1");
  await once(streaming, "listening");
});
afterEach(async () => {
  await server.close();
  switched?.destroy();
  streaming.closeAllConnections();
  streaming.close();
});

async function openServer(options: SecurePortOptions = {}, tty = false): Promise<void> {
  const url = `http://127.0.0.1:${(streaming.address() as AddressInfo).port}/token`;
  const answer = (): Promise<{ url: string }> => Promise.resolve({ url });
  const found = (id: string) => ({ id, createdAt: 1n });
  const runtime = {
    exec: answer,
    attach: answer,
    portForward: answer,
    listContainers: () => Promise.resolve({ containers: [found("c1")] }),
    listPodSandbox: () => Promise.resolve({ items: [found("s1")] }),
  } as unknown as Partial<ServedRuntime>;
  server = await new SecurePort(certificates).open({ runtime, ...options });
  showPods(server.pods, [pod({ containers: [{ name: "app", image: "i", tty }] })]);
}

const ALL = "/exec/default/web/app?command=sh&input=1&output=1&error=1";

async function open(path = ALL, protocol = V5, headers: Record<string, string> = {}): Promise<ChannelSocket> {
  return ChannelSocket.connect(`https://127.0.0.1:${server.port}${path}`, {
    ca: certificates.ca.pair.cert,
    headers: { "Sec-WebSocket-Protocol": protocol, ...headers },
  });
}

/** Opens a stream, and waits until the runtime has its streams. */
async function command(path = ALL, types = ["error", "stdin", "stdout", "stderr"]): Promise<ChannelSocket> {
  const client = await open(path);
  await until(() => switched !== undefined && peer.streams.length === types.length);
  deepEqual(
    peer.streams.map(({ headers }) => headers),
    types.map((streamtype) => ({ streamtype })),
  );
  return client;
}

const statusOf = (client: ChannelSocket): Record<string, unknown> =>
  JSON.parse(client.text(ERROR)) as Record<string, unknown>;
const SUCCESS = '{"metadata":{},"status":"Success"}';

describe("a command over WebSocket v5", () => {
  test("is asked for with SPDY, without the client's credentials", async () => {
    await openServer();
    const token = "base64url.bearer.authorization.k8s.io.c2VjcmV0";
    const client = await open(ALL, `v4.channel.k8s.io, ${V5}, ${token}`, { Cookie: "a=b", "X-Own": "yes" });
    equal(client.protocol, V5);
    const [request] = requests;
    const { host, ...headers } = request?.headers ?? {};
    match(host ?? "", /^127\.0\.0\.1:/);
    equal(request?.method, "POST");
    deepEqual(headers, {
      connection: "Upgrade",
      upgrade: "SPDY/3.1",
      "x-stream-protocol-version": "v4.channel.k8s.io",
      "x-own": "yes",
      "content-length": "0",
    });
    await client.until(() => client.received.has(STDOUT));
    equal(client.text(1), "");
    client.close();
  });

  test("has its channels as streams; a closed channel is the end of the input and of nothing else", async () => {
    await openServer();
    const client = await command();
    client.send(0, "some in");
    client.write(2, Buffer.alloc(0));
    client.send(0, "put");
    client.send(1, "not the client's to say");
    client.send(7, "nowhere");
    client.end(0);
    client.send(0, "too late");
    await until(() => peer.stream("stdin").ended);
    equal(peer.text("stdin"), "some input");
    equal(peer.text("stdout"), "");
    peer.send("stdout", "out");
    peer.send("stderr", "err");
    await client.until(() => client.text(1) === "out" && client.text(2) === "err");
    peer.send("error", SUCCESS);
    for (const type of ["error", "stdin", "stdout", "stderr"]) peer.reset(type);
    peer.goAway();
    await client.until(() => client.closed);
    deepEqual([client.text(3), client.closeCode], [SUCCESS, 1000]);
    client.socket.end();
    await until(() => switched?.destroyed === true);
  });

  test("takes messages up to the largest in any cut, megabytes of them, with pings between", async () => {
    await openServer();
    const client = await command();
    const sent = Buffer.alloc(MAX_MESSAGE - 1, "\0\x01\xff\x00abc", "latin1");
    client.send(0, sent);
    client.socket.write(clientFrame(2, Buffer.of(0), { fin: false }));
    for (const part of cut(sent, [1, 70_000, 100])) {
      client.socket.write(clientFrame(0, part, { fin: false, mask: 0xfefdfcfb }));
      client.write(9, Buffer.from("ping"));
    }
    client.socket.write(clientFrame(0, Buffer.alloc(0)));
    // Text is bytes, whether it is UTF-8 or not.
    client.write(1, Buffer.of(0, 0xff));
    client.end(0);
    await until(() => peer.stream("stdin").ended);
    ok(Buffer.concat(peer.stream("stdin").parts).equals(Buffer.concat([sent, sent, Buffer.of(0xff)])));
    await client.until(() => client.pongs.length === cut(sent, [1, 70_000, 100]).length);
    client.close();
  });

  test("sends the status last, after all output, to a slow client", async () => {
    await openServer();
    const client = await command();
    client.socket.pause();
    peer.send("stdout", Buffer.alloc(3_000_000, "0123456789"), true);
    const exit = '{"metadata":{},"status":"Failure","reason":"NonZeroExitCode"}';
    peer.send("error", exit, true);
    peer.send("stderr", "", true);
    switched?.end();
    client.socket.resume();
    await client.until(() => client.closed);
    equal(client.text(STDOUT).length, 3_000_000);
    equal(client.text(ERROR), exit);
  });

  test("slows a client down whose input is not read, and sends it pongs until it is", async () => {
    const clock = new SteppedClock();
    await openServer({ clock, init: { streamingConnectionIdleTimeoutMs: 1e9 } });
    const client = await command();
    switched?.pause();
    // More than all buffers between hold.
    const frame = clientFrame(2, Buffer.alloc(1_000_001));
    for (let i = 0; i < 40; i++) client.socket.write(frame);
    await client.until(() => {
      clock.step(SIGN_OF_LIFE_MS / 20);
      return client.pongs.length > 0;
    });
    ok(client.socket.writableLength > 1_000_000, `${client.socket.writableLength} bytes wait`);
    switched?.resume();
    client.end(0);
    await until(() => peer.stream("stdin").ended);
    equal(
      peer.stream("stdin").parts.reduce((sum, { length }) => sum + length, 0),
      40_000_000,
    );
    client.close();
  });

  test("is in a terminal: sizes go along, there is one output", async () => {
    await openServer({}, true);
    const path = "/attach/default/web/app?input=1&output=1&error=1";
    const client = await command(path, ["error", "stdin", "stdout", "resize"]);
    client.send(RESIZE, '{"Width":80,"Height":24}');
    await until(() => peer.text("resize") === '{"Width":80,"Height":24}');
    client.close();
    await until(() => switched?.destroyed === true);
  });

  test("that only listens gets the ready signal on the channel there is", async () => {
    await openServer();
    const errors = await command("/exec/default/web/app?error=1", ["error", "stderr"]);
    await errors.until(() => errors.received.has(STDERR));
    errors.close();
    const input = await open("/exec/default/web/app?input=1");
    await input.until(() => input.received.has(ERROR));
    input.close();
  });

  test("pings are answered, also when output waits to be read", async () => {
    await openServer();
    const client = await command();
    client.write(9, Buffer.from("one"));
    await client.until(() => client.pongs.includes("one"));
    client.socket.pause();
    while (peer.send("stdout", Buffer.alloc(100_000))) await new Promise((resolve) => setImmediate(resolve));
    client.write(9, Buffer.from("two"));
    client.write(9, Buffer.from("three"));
    client.socket.resume();
    await client.until(() => client.pongs.includes("three"));
    client.close();
  });
});

describe("the end of a command over WebSocket v5", () => {
  /** Makes one frame of a message that goes on. */
  const part = (opcode: number, length: number): Buffer => clientFrame(opcode, Buffer.alloc(length), { fin: false });
  const finished = async (client: ChannelSocket): Promise<Record<string, unknown>> => {
    await client.until(() => client.closed);
    client.socket.end();
    await until(() => switched?.destroyed === true);
    return statusOf(client);
  };

  test("without a word on the error stream is a success", async () => {
    await openServer();
    const client = await command();
    for (const type of ["error", "stdin", "stdout", "stderr"]) peer.reset(type);
    deepEqual(await finished(client), { metadata: {}, status: "Success" });
  });

  test("by a runtime that breaks off is none", async () => {
    await openServer();
    const client = await command();
    peer.send("stdout", "half");
    await client.until(() => client.text(1) === "half");
    switched?.destroy();
    const { status, reason, code, message } = await finished(client);
    deepEqual([status, reason, code], ["Failure", "InternalError", 500]);
    match(String(message), /streaming server broke off/);
  });

  test("by a runtime with an invalid response is reported", async () => {
    await openServer();
    const client = await command();
    switched?.write(controlFrame(2, Buffer.alloc(4), { version: 2 }));
    match(String((await finished(client))["message"]), /SPDY version 2/);
  });

  test("with an invalid status is reported", async () => {
    await openServer();
    const client = await command();
    peer.send("error", "exit 3");
    for (const type of ["error", "stdin", "stdout", "stderr"]) peer.reset(type);
    match(String((await finished(client))["message"]), /is not a Status/);
  });

  test("by a client that breaks the rules, or leaves: the runtime's end follows", async () => {
    await openServer();
    for (const wrong of [Buffer.of(255), Buffer.of(255, 5), Buffer.of(255, 0, 0)]) {
      switched = undefined;
      const client = await command();
      client.write(2, wrong);
      await client.until(() => client.closed);
      equal(client.closeCode, 1002);
      client.socket.end();
      await until(() => switched?.destroyed === true);
    }
    const beyond: [frames: Buffer, code: number][] = [
      [Buffer.of(0x82, 1, 0), 1002],
      [clientFrame(2, Buffer.alloc(MAX_MESSAGE + 1)).subarray(0, 14), 1009],
      [Buffer.concat([part(2, MAX_MESSAGE), part(0, 1)]), 1009],
      [Buffer.concat([part(2, 1), ...Array.from({ length: 128 }, () => part(0, 1))]), 1008],
    ];
    for (const [frames, code] of beyond) {
      switched = undefined;
      const client = await command();
      client.socket.write(frames);
      await client.until(() => client.closed);
      equal(client.closeCode, code);
      client.socket.end();
      await until(() => switched?.destroyed === true);
      equal(peer.text("stdin"), "");
    }
    switched = undefined;
    const leaving = await command();
    leaving.write(8, Buffer.of(3, 232));
    await leaving.until(() => leaving.closeCode === 1000);
    leaving.socket.end();
    await until(() => switched?.destroyed === true);
  });

  test("of a client that stays after it has received everything", async () => {
    const clock = new SteppedClock();
    await openServer({ clock });
    const client = await command();
    for (const type of ["error", "stdin", "stdout", "stderr"]) peer.reset(type);
    await client.until(() => client.closeCode === 1000);
    await until(() => switched?.destroyed === true);
    clock.step(LINGER_MS);
    await until(() => client.socket.destroyed || client.socket.readableEnded);
    client.close();
  });
});

describe("no command over WebSocket v5", () => {
  test("without a handshake that makes one", async () => {
    await openServer();
    const key = { "Sec-WebSocket-Key": "short" };
    await rejects(open(ALL, V5, key), /400: Sec-WebSocket-Key/);
    await rejects(open(ALL, V5, { "Sec-WebSocket-Version": "8" }), /400: only WebSocket version 13/);
    equal(requests.length, 0);
  });

  test("with a runtime that speaks something else", async () => {
    await openServer();
    upgradeTo = { Upgrade: "websocket" };
    await rejects(open(), /500: .*the request was for SPDY\/3\.1 and the server switched to "websocket"/);
    upgradeTo = { Upgrade: "SPDY/3.1", "X-Stream-Protocol-Version": "v3.channel.k8s.io" };
    await rejects(open(), /500: .*offered v4\.channel\.k8s\.io and the runtime chose "v3/);
    await until(() => switched?.destroyed === true);
  });

  test("beyond the limit of streams", async () => {
    await openServer({ limits: { streams: 1 } });
    const first = await command();
    await rejects(open(), /429: too many streams/);
    first.close();
  });

  test("without the gate: bytes go on as they are", async () => {
    const gates = {
      podLogsQuerySplitStreams: false,
      containerCheckpoint: true,
      componentFlagz: true,
      componentStatusz: true,
      extendWebSocketsToKubelet: false,
    };
    await openServer({ init: { gates } });
    upgradeTo = { Upgrade: "websocket", "Sec-WebSocket-Protocol": V5 };
    (await open()).close();
    await rejects(open("/portForward/default/web", TUNNEL), /400: query parameter "port" is required/);
    equal(requests[0]?.headers["sec-websocket-protocol"], V5);
    equal(requests.length, 1);
  });
});

describe("a tunnelled port-forward", () => {
  test("carries the SPDY bytes of the client both ways, and ends with either side", async () => {
    await openServer();
    upgradeTo = { Upgrade: "SPDY/3.1", "X-Stream-Protocol-Version": "portforward.k8s.io" };
    const client = await open("/portForward/default/web", TUNNEL);
    equal(client.protocol, TUNNEL);
    equal(requests[0]?.headers["x-stream-protocol-version"], "portforward.k8s.io");
    const seen: Buffer[] = [];
    switched?.removeAllListeners("data").on("data", (part: Buffer) => seen.push(part));
    const sent = Buffer.alloc(200_000, "\x80\x03\x00\x01spdy", "latin1");
    client.write(2, sent);
    await until(() => Buffer.concat(seen).equals(sent));
    switched?.write("\x01answer");
    // The client of this test takes the first byte for a channel.
    await client.until(() => client.text(1) === "answer");
    switched?.end("\x02last words");
    await client.until(() => client.closed);
    deepEqual([client.text(2), client.closeCode], ["last words", 1000]);
    client.socket.end();
    await until(() => switched?.destroyed === true);
  });

  test("a tunnel refuses a text message", async () => {
    await openServer();
    const client = await open("/portForward/default/web", TUNNEL);
    client.write(1, Buffer.from("text"));
    await client.until(() => client.closeCode === 1003);
    client.socket.end();
    await until(() => switched?.destroyed === true);
  });
});

describe("a stream over WebSocket whose handler throws", () => {
  /** Opens a stream, and waits until it has carried something from the runtime. */
  async function joined(kind: string): Promise<{ client: ChannelSocket; runtime: Socket | undefined }> {
    switched = undefined;
    const client = kind === "a command" ? await command() : await open("/portForward/default/web", TUNNEL);
    await until(() => switched !== undefined);
    if (kind === "a command") peer.send("stdout", "ready");
    else (switched as Socket | undefined)?.write("\x01ready");
    await client.until(() => client.text(STDOUT) === "ready");
    return { client, runtime: switched };
  }

  for (const kind of ["a command", "a tunnelled port-forward"]) {
    for (const point of ["websocket-message", "runtime-data"] as const) {
      test(`${kind}: an error in ${point} ends both its connections and no other`, async () => {
        await openServer();
        if (kind !== "a command") upgradeTo["X-Stream-Protocol-Version"] = "portforward.k8s.io";
        const other = await joined(kind);
        const { client, runtime } = await joined(kind);
        armFaultPoint(point);
        if (point === "websocket-message") client.write(2, Buffer.of(0, 1));
        else runtime?.write("anything");
        await until(() => client.socket.destroyed && runtime?.destroyed === true);
        const defects = server.lines
          .map(({ fields }) => fields["err"])
          .filter((error) => error instanceof HandlerError);
        match(String(defects[0]?.cause), new RegExp(`thrown in ${point}`));
        deepEqual([other.client.socket.destroyed, other.runtime?.destroyed], [false, false]);
        other.client.close();
        await until(() => other.runtime?.destroyed === true);
      });
    }
  }
});

test("streams over WebSocket are counted by their kind", async () => {
  await openServer();
  (await open()).close();
  (await open("/attach/default/web/app?output=1")).close();
  (await open("/portForward/default/web", TUNNEL)).close();
  const { families } = await server.registry.exportSnapshot();
  const family = families.find(({ name }) => name === "kubelet_websocket_streaming_requests_total");
  const counts = family?.samples.map(({ labels, value }) => `${labels["subresource"] ?? ""} ${value}`);
  deepEqual(counts, ["exec 1", "attach 1", "portforward 1"]);
});
