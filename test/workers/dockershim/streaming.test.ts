// The server behind the URLs of exec, attach and port-forward: its requests, and what happens to a command's streams.
// @promise Docker Engine: A URL of a stream works once, within 60 s; at most 1000 wait; SPDY's headers are inflated to
//   at most 64 KiB.
// @with test/shared/io/spdy

import assert from "node:assert/strict";
import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { createServer, connect, type AddressInfo, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { after, test } from "node:test";
import { WebSocket } from "ws";
import { StreamingServer, type StreamRequest } from "../../../src/workers/dockershim/streaming/streaming-server.js";
import { takeSizes } from "../../../src/workers/dockershim/streaming/terminal-size.js";
import { SpdySession } from "../../../src/workers/server/streams/spdy/session.js";
import { keptLog, until } from "../../support/sources-kit.js";
import { SteppedClock } from "../../support/stepped-clock.js";

const clock = new SteppedClock(1000);
const server = new StreamingServer({ clock, log: keptLog().log });
after(() => server.stop());

/** Frames of the Engine's streams: 1 output, 2 errors. */
const frame = (stream: 1 | 2, text: string): Buffer => {
  const head = Buffer.of(stream, 0, 0, 0, 0, 0, 0, text.length);
  return Buffer.concat([head, Buffer.from(text)]);
};

interface Fake {
  wanted: StreamRequest;
  /** Sizes that were set. */
  sizes: string[];
}

/** A command that repeats its input on both outputs, and ends with the input. */
function repeater(exitCode: number, tty = false): Fake {
  const sizes: string[] = [];
  return {
    sizes,
    wanted: {
      kind: "exec",
      options: { stdin: true, stdout: true, stderr: !tty, tty },
      command: {
        doing: "executing command in container",
        start: () => {
          const stream: Duplex = new Duplex({
            read: () => undefined,
            write: (part: Buffer, _encoding, done) => {
              if (tty) stream.push(part);
              else stream.push(Buffer.concat([frame(1, part.toString()), frame(2, "!")]));
              done();
            },
            final: (done) => {
              stream.push(null);
              done();
            },
          });
          return Promise.resolve({
            stream,
            tty,
            resize: ({ width, height }) => Promise.resolve(void sizes.push(`${width}x${height}`)),
            exitCode: () => Promise.resolve(exitCode),
          });
        },
      },
    },
  };
}

interface Answer {
  status: number;
  headers: IncomingMessage["headers"];
  socket: Socket | undefined;
  head: Buffer;
}

function ask(url: string, protocols: readonly string[], upgrade = "SPDY/3.1"): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = upgrade === "" ? {} : { Connection: "Upgrade", Upgrade: upgrade };
    const sent = request(url, { method: "POST", headers: { ...headers, "X-Stream-Protocol-Version": [...protocols] } });
    const answer = (reply: IncomingMessage, socket?: Socket, head = Buffer.alloc(0)): void =>
      resolve({ status: reply.statusCode ?? 0, headers: reply.headers, socket, head });
    sent.once("upgrade", answer).once("error", reject);
    sent.once("response", (reply) => {
      reply.resume();
      answer(reply);
    });
    sent.end();
  });
}

interface Client {
  socket: Socket;
  session: SpdySession;
  /** What came, by stream. */
  texts: Map<number, string>;
  ended: Set<number>;
}

async function spdy(url: string, protocol: string): Promise<Client> {
  const { status, socket, head } = await ask(url, [protocol]);
  assert.equal(status, 101);
  assert.ok(socket);
  const texts = new Map<number, string>();
  const ended = new Set<number>();
  const session = new SpdySession(socket, {
    onData: (stream, part) => texts.set(stream, (texts.get(stream) ?? "") + part.toString()),
    onEnd: (stream) => ended.add(stream),
    onGoAway: () => undefined,
  });
  if (head.length > 0) session.push(head);
  socket.on("data", (chunk: Buffer) => session.push(chunk));
  return { socket, session, texts, ended };
}

test("a command over SPDY: input with its end, outputs apart, the exit code last", async () => {
  const { wanted } = repeater(7);
  const { socket, session, texts, ended } = await spdy(await server.urlOf(wanted), "v4.channel.k8s.io");
  const [error, stdin, stdout, stderr] = ["error", "stdin", "stdout", "stderr"].map((streamtype) =>
    session.open({ streamtype }),
  ) as [number, number, number, number];
  session.write(stdin, Buffer.from("hello"));
  session.end(stdin);
  await once(socket, "end");
  assert.deepEqual([texts.get(stdout), texts.get(stderr)], ["hello", "!"]);
  const status = JSON.parse(texts.get(error) ?? "") as { reason: string; details: object };
  assert.deepEqual(
    [status.reason, status.details],
    ["NonZeroExitCode", { causes: [{ reason: "ExitCode", message: "7" }] }],
  );
  assert.deepEqual(
    [error, stdout, stderr].filter((stream) => !ended.has(stream)),
    [],
  );
  socket.destroy();
});

test("a command that cannot be started: the error stream says why, as a Status or, before version 4, as text", async () => {
  const failing: StreamRequest = {
    kind: "exec",
    options: { stdin: false, stdout: true, stderr: false, tty: false },
    command: { doing: "executing command in container", start: () => Promise.reject(new Error("no such exec")) },
  };
  for (const [protocol, expected] of [
    ["v4.channel.k8s.io", /"message":"Internal error occurred: error executing command in container: no such exec"/],
    ["v2.channel.k8s.io", /^error executing command in container: no such exec$/],
  ] as const) {
    const { socket, session, texts } = await spdy(await server.urlOf(failing), protocol);
    const error = session.open({ streamtype: "error" });
    session.open({ streamtype: "stdout" });
    await once(socket, "end");
    assert.match(texts.get(error) ?? "", expected);
    socket.destroy();
  }
});

test("a terminal over SPDY: its sizes are set", async () => {
  const { wanted, sizes } = repeater(0, true);
  const { socket, session, texts } = await spdy(await server.urlOf(wanted), "v4.channel.k8s.io");
  const [error, stdin, , resize] = ["error", "stdin", "stdout", "resize"].map((streamtype) =>
    session.open({ streamtype }),
  ) as [number, number, number, number];
  session.write(resize, Buffer.from('{"Width":80,"Height":25}\n'));
  session.end(stdin);
  await once(socket, "end");
  assert.deepEqual(sizes, ["80x25"]);
  assert.equal(texts.get(error), '{"metadata":{},"status":"Success"}');
  socket.destroy();
});

for (const protocol of ["v4.channel.k8s.io", "v4.base64.channel.k8s.io"]) {
  test(`a command over a WebSocket with ${protocol}`, async () => {
    const { wanted } = repeater(0, true);
    const socket = new WebSocket((await server.urlOf(wanted)).replace("http", "ws"), protocol);
    const isText = protocol.includes("base64");
    const encode = (channel: number, text: string) =>
      isText ? `${channel}${Buffer.from(text).toString("base64")}` : Buffer.from([channel, ...Buffer.from(text)]);
    const got: string[] = [];
    socket.on("message", (data: Buffer) => {
      const [channel = 0] = data;
      const rest = data.subarray(1);
      const text = isText ? Buffer.from(rest.toString(), "base64").toString() : rest.toString();
      got.push(`${isText ? channel - 48 : channel}:${text}`);
    });
    await once(socket, "open");
    socket.send(encode(4, '{"Width":1,"Height":2}'));
    socket.send(encode(0, "hello"));
    while (!got.includes("1:hello")) await once(socket, "message");
    assert.equal(got[0], "1:");
    socket.close();
    await once(socket, "close");
  });
}

test("a URL works once, and only for its own kind", async () => {
  const url = await server.urlOf(repeater(0).wanted);
  assert.equal((await ask(url.replace("/exec/", "/attach/"), ["v4.channel.k8s.io"])).status, 404);
  assert.equal((await ask(url, ["v4.channel.k8s.io"])).status, 404);
  assert.equal((await ask(`${new URL(url).origin}/exec/unknown`, ["v4.channel.k8s.io"])).status, 404);
});

test("a URL expires after a minute", async () => {
  const url = await server.urlOf(repeater(0).wanted);
  clock.step(60_000);
  assert.equal((await ask(url, ["v4.channel.k8s.io"])).status, 404);
});

test("a request without an upgrade gets 400, one without a known protocol 403 with those that are known", async () => {
  assert.equal((await ask(await server.urlOf(repeater(0).wanted), [], "")).status, 400);
  assert.equal((await ask(await server.urlOf(repeater(0).wanted), [], "h2c")).status, 400);
  const { status, headers } = await ask(await server.urlOf(repeater(0).wanted), ["v9.channel.k8s.io"]);
  assert.equal(status, 403);
  assert.match(String(headers["x-accepted-stream-protocol-versions"]), /v4\.channel\.k8s\.io/);
});

test("an error in a handler ends its connection only", async () => {
  const defect = {
    kind: "exec",
    get options() {
      throw new Error("a defect");
    },
  };
  await assert.rejects(ask(await server.urlOf(defect as never), [], "websocket"), { code: "ECONNRESET" });
  assert.equal((await ask(await server.urlOf(repeater(0).wanted), [], "")).status, 400);
});

test("a malformed request is 400, another machine's name is 421, and neither uses up the URL", async () => {
  const url = new URL(await server.urlOf(repeater(0).wanted));
  const statusOf = async (text: string): Promise<string> => {
    const socket = connect({ host: url.hostname, port: Number(url.port) });
    socket.on("error", () => undefined).write(text.replaceAll("PATH", url.pathname).replaceAll("HOST", url.host));
    const [data] = (await once(socket, "data")) as [Buffer];
    socket.destroy();
    return data.toString("latin1").slice(9, 12);
  };
  const upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
  const malformed = [
    "GET PATH# HTTP/1.1\r\nHost: HOST\r\n",
    "GET *PATH HTTP/1.1\r\nHost: HOST\r\n",
    "GET ftp://HOST/PATH HTTP/1.1\r\nHost: HOST\r\n",
    "GET PATH HTTP/1.1\r\nHost: HOST\r\nHost: HOST\r\n",
    "GET PATH HTTP/1.1\r\n",
    "GET PATH HTTP/2.0\r\nHost: HOST\r\n",
    "CONNECT HOST HTTP/1.1\r\nHost: HOST\r\n",
  ];
  for (const text of malformed) {
    assert.equal(await statusOf(`${text}\r\n`), "400", text);
    assert.equal(await statusOf(`${text}${upgrade}`), "400", text);
  }
  assert.equal(await statusOf(`GET PATH HTTP/1.1\r\nHost: evil.example\r\n${upgrade}`), "421");
  assert.equal(await statusOf("GET /exec/unknown HTTP/1.1\r\nHost: HOST\r\n\r\n"), "404");
  assert.equal(await statusOf("GET PATH HTTP/1.1\r\nHost: HOST\r\n\r\n"), "400", "an upgrade is needed");
  assert.equal(await statusOf("GET PATH HTTP/1.1\r\nHost: HOST\r\n\r\n"), "404", "the URL is used up");
});

test("a refused client that leaves bytes unread loses its connection", async () => {
  const { hostname, port } = new URL(await server.urlOf(repeater(0).wanted));
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  let closed = false;
  socket.on("error", () => undefined).on("close", () => (closed = true));
  socket.write(
    "GET /exec/unknown HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nmore",
  );
  await once(socket, "data");
  await until("the connection is gone", () => {
    clock.step(1000);
    socket.write("x");
    return closed;
  });
});

test("at most 1000 requests wait for their clients; expired ones do not count", async () => {
  clock.step(60_000);
  for (let i = 0; i < 1000; i++) await server.urlOf(repeater(0).wanted);
  await assert.rejects(server.urlOf(repeater(0).wanted), { code: "RESOURCE_EXHAUSTED" });
  clock.step(60_000);
  await server.urlOf(repeater(0).wanted);
});

test("a forwarded port: data both ways; a refused one says why and ends its own streams only", async () => {
  const target = createServer((socket) => socket.pipe(socket)).listen(0, "127.0.0.1");
  await once(target, "listening");
  const { port } = target.address() as AddressInfo;
  const forwarding = {
    sandboxId: "s1",
    connect: async (wanted: number): Promise<Socket> => {
      if (wanted !== port) throw new Error("connection refused");
      const socket = connect(port, "127.0.0.1");
      await once(socket, "connect");
      return socket;
    },
  };
  const url = await server.urlOf({ kind: "portforward", ports: [], forwarding });
  const { socket, session, texts, ended } = await spdy(url, "portforward.k8s.io");
  const open = (to: number, requestid: string) => ({
    error: session.open({ streamtype: "error", port: String(to), requestid }),
    data: session.open({ streamtype: "data", port: String(to), requestid }),
  });
  const refused = open(1, "0");
  while (!ended.has(refused.error)) await once(socket, "data");
  assert.equal(texts.get(refused.error), "error forwarding port 1 to pod s1: connection refused");
  const echoed = open(port, "1");
  session.write(echoed.data, Buffer.from("hello"));
  session.end(echoed.data);
  while (!ended.has(echoed.error)) await once(socket, "data");
  assert.deepEqual(
    [texts.get(echoed.data), ended.has(echoed.data), texts.get(echoed.error)],
    ["hello", true, undefined],
  );
  socket.destroy();
  target.close();
});

test("sizes of terminals: complete objects are read between any other bytes", () => {
  for (const [text, sizes, rest] of [
    ['{"Width":80,"Height":25}', [{ width: 80, height: 25 }], ""],
    [
      '{"Width":80,"Height":25}\n{"Height":2,"Width":1}\n{"Wi',
      [
        { width: 80, height: 25 },
        { width: 1, height: 2 },
      ],
      '\n{"Wi',
    ],
    ['{"Width":99999,"Height":1}', [{ width: 65_535, height: 1 }], ""],
    ['{"Width":-1,"Height":1}{}', [], ""],
    ["x".repeat(5000), [], "x".repeat(1024)],
  ] as const) {
    assert.deepEqual(takeSizes(text), { sizes, rest });
  }
});
