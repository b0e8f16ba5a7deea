// httpGet and tcpSocket probes against real servers on this machine.
// @promise Probes and hooks: Probes leave nothing in TIME_WAIT and no socket behind.
// @with test/workers/peers/grpc.test.ts

import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { createServer as createTcpServer } from "node:net";
import { before, describe, test, type TestContext } from "node:test";
import { OUTPUT_LIMIT_BYTES, type ProbeAction } from "../../../src/shared/contracts/prober.js";
import { podUid } from "../../../src/shared/kubernetes/identifiers.js";
import type { RunResult } from "../../../src/shared/node/probes/run.js";
import { probeTcp } from "../../../src/workers/prober/tcp.js";
import {
  closedPort,
  timeWaits,
  listen,
  openSockets,
  PATIENCE_MS,
  runPeerProbe,
  runWithin,
  selfSigned,
  USER_AGENT,
} from "../../support/probe-kit.js";
import { until } from "../../support/sources-kit.js";

type HttpAction = Extract<ProbeAction, { type: "http" }>;

const action = (port: number, more: Partial<HttpAction> = {}): HttpAction => ({
  type: "http",
  scheme: "http",
  host: "127.0.0.1",
  port,
  path: "/",
  headers: [],
  ...more,
});

async function serve(t: TestContext, listener: RequestListener): Promise<number> {
  return await listen(t, createServer(listener));
}

const get = (port: number, more: Partial<HttpAction> = {}, timeoutMs = PATIENCE_MS): Promise<RunResult> =>
  runPeerProbe(action(port, more), timeoutMs);

const answer =
  (status: number, body = "", headers: Record<string, string> = {}) =>
  (_request: IncomingMessage, response: ServerResponse): void => {
    response.writeHead(status, headers).end(body);
  };

async function serveRaw(t: TestContext, answer: string): Promise<number> {
  const server = createTcpServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => socket.write(answer));
  });
  return await listen(t, server);
}

test("101 is a failure with its status, at once", async (t) => {
  const head = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n";
  assert.deepEqual(await get(await serveRaw(t, head)), {
    outcome: "failure",
    output: "HTTP probe failed with statuscode: 101",
  });
});

test("a head beyond the limit ends the exchange before its timeout, and proves nothing about the server", async (t) => {
  const endless = await serveRaw(t, "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(30_000));
  await assert.rejects(get(endless), {
    name: "BodyError",
    message: /server response headers exceeded 524288 bytes; aborted$/,
  });
});

describe("statuses", () => {
  const table: [status: number, expected: RunResult][] = [
    [200, { outcome: "success", output: "body" }],
    [204, { outcome: "success", output: "" }],
    [299, { outcome: "success", output: "body" }],
    [302, { outcome: "warning", output: "Probe terminated redirects, Response body: body" }],
    [399, { outcome: "warning", output: "Probe terminated redirects, Response body: body" }],
    [400, { outcome: "failure", output: "HTTP probe failed with statuscode: 400" }],
    [503, { outcome: "failure", output: "HTTP probe failed with statuscode: 503" }],
  ];
  for (const [status, expected] of table) {
    test(String(status), async (t) => {
      const port = await serve(t, answer(status, status === 204 ? "" : "body"));
      assert.deepEqual(await get(port), expected);
    });
  }
});

describe("the request", () => {
  const cases: [name: string, headers: HttpAction["headers"], expected: string[]][] = [
    ["the standard headers", [], ["Host", "127.0.0.1:PORT", "User-Agent", USER_AGENT, "Accept", "*/*"]],
    [
      "given ones instead of them, whatever their case",
      [
        { name: "user-agent", value: "mine" },
        { name: "ACCEPT", value: "text/plain" },
      ],
      ["Host", "127.0.0.1:PORT", "User-Agent", "mine", "Accept", "text/plain"],
    ],
    ["an empty Accept: none", [{ name: "Accept", value: "" }], ["Host", "127.0.0.1:PORT", "User-Agent", USER_AGENT]],
    [
      "a host of its own",
      [{ name: "Host", value: "shop.example" }],
      ["Host", "shop.example", "User-Agent", USER_AGENT, "Accept", "*/*"],
    ],
    [
      "one name twice",
      [
        { name: "X-A", value: "1" },
        { name: "X-A", value: "2" },
      ],
      ["Host", "127.0.0.1:PORT", "User-Agent", USER_AGENT, "Accept", "*/*", "X-A", "1", "X-A", "2"],
    ],
  ];
  for (const [name, headers, expected] of cases) {
    test(name, async (t) => {
      let seen: string[] = [];
      const port = await serve(t, (request, response) => {
        seen = request.rawHeaders;
        response.end();
      });
      assert.equal((await get(port, { headers })).outcome, "success");
      assert.deepEqual(seen, [...expected.map((word) => word.replace("PORT", String(port))), "Connection", "close"]);
    });
  }

  const paths: [given: string, sent: string][] = [
    ["/a/../b?x=1&y=%20#part", "/a/../b?x=1&y=%20"],
    ["healthz", "/healthz"],
    ["//double", "/"],
    ["/ä b", "/%C3%A4%20b"],
  ];
  for (const [given, sent] of paths) {
    test(`path ${given}`, async (t) => {
      let seen: string | undefined;
      const port = await serve(t, (request, response) => {
        seen = request.url;
        response.end();
      });
      assert.equal((await get(port, { path: given })).outcome, "success");
      assert.equal(seen, sent);
    });
  }
});

describe("redirects", () => {
  test("followed on the same host, another port included; the probe's Host stays with relative ones", async (t) => {
    const seen: string[] = [];
    const last = await serve(t, (request, response) => {
      seen.push(`${request.headers.host} ${request.url}`);
      response.end("there");
    });
    const first = await serve(t, (request, response) => {
      seen.push(`${request.headers.host} ${request.url}`);
      const location = request.url === "/" ? "/two?x=1" : `http://127.0.0.1:${last}/three`;
      response.writeHead(302, { location }).end("gone");
    });
    const result = await get(first, { headers: [{ name: "Host", value: "shop.example" }] });
    assert.deepEqual(result, { outcome: "success", output: "there" });
    assert.deepEqual(seen, ["shop.example /", "shop.example /two?x=1", `127.0.0.1:${last} /three`]);
  });

  test("to another host: not followed, a warning", async (t) => {
    const port = await serve(t, answer(301, "moved", { location: "http://elsewhere.invalid/" }));
    assert.deepEqual(await get(port), {
      outcome: "warning",
      output: "Probe terminated redirects, Response body: moved",
    });
  });

  test("ten of them are enough", async (t) => {
    let asked = 0;
    const port = await serve(t, (_request, response) => {
      asked++;
      response.writeHead(307, { location: `/${asked}` }).end();
    });
    const { outcome, output } = await get(port);
    assert.equal(outcome, "failure");
    assert.match(output, /^Get "\/10": stopped after 10 redirects$/);
    assert.equal(asked, 10);
  });

  test("as many as are allowed", async (t) => {
    let asked = 0;
    const port = await serve(t, (_request, response) => {
      asked++;
      if (asked < 10) response.writeHead(307, { location: `/${asked}` }).end();
      else response.end("there");
    });
    assert.deepEqual(await get(port), { outcome: "success", output: "there" });
  });
});

describe("bodies", () => {
  test("cut at 10 KiB, without waiting for the rest", async (t) => {
    const port = await serve(t, (_request, response) => {
      response.write("x".repeat(OUTPUT_LIMIT_BYTES + 5));
    });
    const { outcome, output } = await get(port);
    assert.equal(outcome, "success");
    assert.equal(output.length, OUTPUT_LIMIT_BYTES);
  });

  test("a response that never ends proves nothing: the run is an error at the deadline", async (t) => {
    const port = await serve(t, (_request, response) => {
      response.write("a beginning");
    });
    await assert.rejects(get(port, {}, 200), {
      name: "BodyError",
      message: "context deadline exceeded (Client.Timeout or context cancellation while reading body)",
    });
  });
});

describe("no answer", () => {
  test("a server that sends nothing", async (t) => {
    const port = await listen(t, createTcpServer());
    assert.deepEqual(await get(port, {}, 100), {
      outcome: "failure",
      output: `Get "http://127.0.0.1:${port}/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`,
    });
  });

  test("a port without a listener", async () => {
    const port = await closedPort(createTcpServer());
    assert.deepEqual(await get(port, { path: "/x" }), {
      outcome: "failure",
      output: `Get "http://127.0.0.1:${port}/x": dial tcp 127.0.0.1:${port}: connect: connection refused`,
    });
  });

  test("the connection is cut", async (t) => {
    const server = createTcpServer((socket) => socket.once("data", () => socket.resetAndDestroy()));
    const port = await listen(t, server);
    const { outcome, output } = await get(port);
    assert.equal(outcome, "failure");
    assert.match(output, /connection reset by peer|socket hang up/);
  });

  test("the server does not speak HTTP", async (t) => {
    const port = await listen(
      t,
      createTcpServer((socket) => socket.end("SSH-2.0-nothing\r\n")),
    );
    assert.equal((await get(port)).outcome, "failure");
  });

  test("an unknown host name", async () => {
    const { outcome, output } = await get(80, { host: "no-such-host.invalid" });
    assert.equal(outcome, "failure");
    assert.match(output, /dial tcp: lookup no-such-host\.invalid: no such host$/);
  });
});

describe("https", () => {
  let tls: { key: string; cert: string };
  before(() => {
    tls = selfSigned();
  });

  test("an unsigned certificate is accepted", async (t) => {
    const port = await listen(t, createTlsServer(tls, answer(200, "secret")));
    assert.deepEqual(await get(port, { scheme: "https" }), { outcome: "success", output: "secret" });
  });

  test("a server without TLS is a failure", async (t) => {
    const port = await serve(t, answer(200));
    const { outcome, output } = await get(port, { scheme: "https" });
    assert.equal(outcome, "failure");
    assert.match(output, /^Get "https:\/\/127\.0\.0\.1:\d+\/": /);
  });

  test("leaves nothing in TIME_WAIT", async (t) => {
    const port = await listen(t, createTlsServer(tls, answer(200, "secret")));
    const waiting = timeWaits(port);
    for (let run = 0; run < 20; run++) assert.equal((await get(port, { scheme: "https" })).outcome, "success");
    assert.equal(waiting(), 0);
  });
});

test("a probe reaches a server on IPv6", async (t) => {
  const port = await listen(t, createServer(answer(200)), "::1");
  assert.equal((await get(port, { host: "::1" })).outcome, "success");
  await assert.doesNotReject(get(port, { host: "::1", path: "/x" }));
});

describe("sockets of plain probes", () => {
  test("HTTP leaves nothing in TIME_WAIT, whether the body is read to its end or cut", async (t) => {
    const port = await serve(t, (request, response) => {
      response.end("x".repeat(request.url === "/long" ? 100_000 : 10));
    });
    const waiting = timeWaits(port);
    for (let run = 0; run < 20; run++) {
      for (const path of ["/short", "/long"]) assert.equal((await get(port, { path })).outcome, "success");
    }
    assert.equal(waiting(), 0);
  });

  test("TCP leaves nothing in TIME_WAIT", async (t) => {
    const port = await listen(t, createTcpServer());
    const waiting = timeWaits(port);
    for (let run = 0; run < 20; run++) assert.deepEqual(await tcp(port), { outcome: "success", output: "" });
    assert.equal(waiting(), 0);
  });
});

const tcp = (port: number, host = "127.0.0.1"): Promise<RunResult> =>
  runWithin(PATIENCE_MS, (context) => probeTcp({ type: "tcp", host, port }, context));

test("tcp: a port without a listener", async () => {
  const port = await closedPort(createTcpServer());
  assert.deepEqual(await tcp(port), {
    outcome: "failure",
    output: `dial tcp 127.0.0.1:${port}: connect: connection refused`,
  });
});

test("tcp: the deadline passes before the connection is established", async () => {
  const port = await closedPort(createTcpServer());
  const gone = new AbortController();
  gone.abort(new Error("time"));
  const result = await runWithin(PATIENCE_MS, ({ deadline, userAgent }) =>
    probeTcp(
      { type: "tcp", host: "127.0.0.1", port },
      {
        uid: podUid("u1"),
        userAgent,
        deadline: Object.create(deadline, { signal: { value: gone.signal } }) as typeof deadline,
      },
    ),
  );
  assert.deepEqual(result, { outcome: "failure", output: `dial tcp 127.0.0.1:${port}: i/o timeout` });
});

test("no socket is left behind, however the other side ends it", async (t) => {
  const endings = [
    "HTTP/1.1 200 OK\r\n\r\nbody",
    "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody",
    "nonsense\r\n\r\n",
    "",
  ];
  const ports: number[] = [];
  for (const text of endings) {
    ports.push(
      await listen(
        t,
        createTcpServer({ allowHalfOpen: false }, (socket) => socket.resume().end(text)),
      ),
    );
  }
  const before = openSockets();
  for (let run = 0; run < 10; run++) {
    for (const port of ports) await get(port);
    for (const port of ports) await tcp(port);
  }
  await until("the sockets are closed", () => openSockets() <= before, PATIENCE_MS);
});
