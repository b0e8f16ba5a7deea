// httpGet probes and hooks by TLS to servers that speak HTTP/2: ALPN, the request, responses and their ends as Go's
// client has them.
// @promise Probes and hooks: HTTPS probes and hooks offer HTTP/2 and HTTP/1.1 by ALPN. A server that speaks only one of
//   them is served.

import assert from "node:assert/strict";
import {
  constants,
  createSecureServer,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import { createServer as createTlsServer } from "node:https";
import { before, describe, test, type TestContext } from "node:test";
import { OUTPUT_LIMIT_BYTES, type ProbeAction } from "../../../src/shared/contracts/prober.js";
import { podUid } from "../../../src/shared/kubernetes/identifiers.js";
import type { RunResult } from "../../../src/shared/node/probes/run.js";
import {
  listen,
  openSockets,
  PATIENCE_MS,
  peerActions,
  runPeerProbe,
  selfSigned,
  timeWaits,
} from "../../support/probe-kit.js";
import { until } from "../../support/sources-kit.js";

type HttpAction = Extract<ProbeAction, { type: "http" }>;
type OnStream = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: string[]) => void;

let tls: { key: string; cert: string };
before(() => {
  tls = selfSigned();
});

const action = (port: number, more: Partial<HttpAction> = {}): HttpAction => ({
  ...{ type: "http", scheme: "https", host: "127.0.0.1", port, path: "/", headers: [] },
  ...more,
});
const get = (port: number, more: Partial<HttpAction> = {}, timeoutMs = PATIENCE_MS): Promise<RunResult> =>
  runPeerProbe(action(port, more), timeoutMs);

/** A server that speaks nothing but HTTP/2. */
function server(onStream: OnStream): Http2SecureServer {
  const made = createSecureServer({ ...tls, allowHTTP1: false });
  made.on("session", (session) => session.on("error", () => undefined));
  made.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _flags: number, raw: string[]) => {
    stream.on("error", () => undefined);
    onStream(stream, headers, raw);
  });
  return made;
}
const serve = (t: TestContext, onStream: OnStream): Promise<number> => listen(t, server(onStream));
const answer =
  (status: number, body = "", headers: Record<string, string> = {}): OnStream =>
  (stream) => {
    stream.respond({ ":status": status, ...headers });
    stream.end(body);
  };

const failed = (output: string): RunResult => ({ outcome: "failure", output });

describe("the protocol", () => {
  test("a server that speaks HTTP/2 alone is served", async (t) => {
    assert.deepEqual(await get(await serve(t, answer(200, "well"))), { outcome: "success", output: "well" });
  });

  test("a server that speaks both is spoken to by HTTP/2, one that has no ALPN by HTTP/1.1", async (t) => {
    const both = createSecureServer({ ...tls, allowHTTP1: true }, (request, response) =>
      response.end(request.httpVersion),
    );
    assert.equal((await get(await listen(t, both))).output, "2.0");
    const old = createTlsServer({ ...tls, ALPNProtocols: [] }, (request, response) =>
      response.end(request.httpVersion),
    );
    assert.equal((await get(await listen(t, old))).output, "1.1");
  });

  test("a server that speaks both is spoken to by HTTP/1.1 while DISABLE_HTTP2 is set", async (t) => {
    process.env["DISABLE_HTTP2"] = "1";
    t.after(() => delete process.env["DISABLE_HTTP2"]);
    const both = createSecureServer({ ...tls, allowHTTP1: true }, (request, response) =>
      response.end(request.httpVersion),
    );
    assert.equal((await get(await listen(t, both))).output, "1.1");
  });

  test("a hook's server may speak HTTP/2 alone; the head of its response is enough", async (t) => {
    const port = await serve(t, (stream, headers) => {
      stream.respond({ ":status": headers["accept-encoding"] === "gzip" ? 500 : 200 });
    });
    const hook = { uid: podUid("u1"), action: action(port), userAgent: "kube-lifecycle/1.36" };
    const reply = await peerActions().hook(hook, new AbortController().signal);
    assert.deepEqual(reply, { ok: true, fellBack: false });
  });
});

describe("the request", () => {
  const requestWith = async (t: TestContext, more: Partial<HttpAction>): Promise<[number, string[]]> => {
    let seen: string[] = [];
    const port = await serve(t, (stream, headers, raw) => {
      seen = raw;
      answer(200)(stream, headers, raw);
    });
    assert.deepEqual(await get(port, more), { outcome: "success", output: "" });
    return [port, seen];
  };

  test("has the pseudo fields, then the names in lower case", async (t) => {
    const headers = [
      { name: "X-Both", value: "1" },
      { name: "x-both", value: "2" },
      { name: "Authorization", value: "Bearer x" },
    ];
    const [port, seen] = await requestWith(t, { path: "/a?x=1#part", headers });
    const pseudo = [":authority", `127.0.0.1:${port}`, ":method", "GET", ":path", "/a?x=1", ":scheme", "https"];
    const fields = ["accept", "*/*", "authorization", "Bearer x", "user-agent", "kube-probe/1.36", "x-both", "1, 2"];
    assert.deepEqual(seen, [...pseudo, ...fields]);
  });

  test("has no field of one connection, the given Host as authority, and a cookie in parts", async (t) => {
    const headers = [
      { name: "Host", value: "shop.example" },
      { name: "Connection", value: "close" },
      { name: "Keep-Alive", value: "5" },
      { name: "TE", value: "gzip" },
      { name: "Cookie", value: "a=1; b=2" },
      { name: "User-Agent", value: "" },
      { name: "Accept", value: "" },
    ];
    const [, seen] = await requestWith(t, { headers });
    const pseudo = [":authority", "shop.example", ":method", "GET", ":path", "/", ":scheme", "https"];
    assert.deepEqual(seen, [...pseudo, "cookie", "a=1", "cookie", "b=2"]);
  });

  for (const [name, value] of [
    ["Upgrade", "websocket"],
    ["Connection", "upgrade"],
    ["Transfer-Encoding", "gzip"],
  ] as const) {
    test(`with ${name}: ${value} is not sent`, async (t) => {
      const port = await serve(t, answer(200));
      const { outcome, output } = await get(port, { headers: [{ name, value }] });
      assert.equal(outcome, "failure");
      assert.match(
        output,
        new RegExp(`^Get "https://[^"]+": http2: invalid ${name} request header: \\["${value}"\\]$`),
      );
    });
  }
});

describe("responses", () => {
  test("statuses decide as by HTTP/1", async (t) => {
    assert.deepEqual(await get(await serve(t, answer(503, "no"))), failed("HTTP probe failed with statuscode: 503"));
    assert.deepEqual(await get(await serve(t, answer(302, "there"))), {
      outcome: "warning",
      output: "Probe terminated redirects, Response body: there",
    });
  });

  test("a redirect leads from one protocol to the other", async (t) => {
    const last = await listen(
      t,
      createTlsServer({ ...tls, ALPNProtocols: [] }, (_request, response) => response.end("there")),
    );
    const port = await serve(t, answer(301, "", { location: `https://127.0.0.1:${last}/` }));
    assert.deepEqual(await get(port), { outcome: "success", output: "there" });
  });

  test("informational responses and trailers are passed over", async (t) => {
    const port = await serve(t, (stream) => {
      for (let count = 0; count < 20; count++) stream.additionalHeaders({ ":status": 103, link: "</x>" });
      stream.respond({ ":status": 200 }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ sum: "1" }));
      stream.end("well");
    });
    assert.deepEqual(await get(port), { outcome: "success", output: "well" });
  });

  test("a body is cut at 10 KiB, without waiting for the rest, however small its frames are", async (t) => {
    const port = await serve(t, (stream) => {
      stream.respond({ ":status": 200 });
      const more = (left: number): void => {
        if (left > 0 && !stream.destroyed) stream.write("x", () => more(left - 1));
      };
      more(OUTPUT_LIMIT_BYTES + 5);
    });
    const { outcome, output } = await get(port);
    assert.equal(outcome, "success");
    assert.equal(output, "x".repeat(OUTPUT_LIMIT_BYTES));
  });

  test("a body that never ends, or is reset, proves nothing", async (t) => {
    const endless = await serve(t, (stream) => {
      stream.respond({ ":status": 200 });
      stream.write("a beginning");
    });
    await assert.rejects(get(endless, {}, 500), {
      name: "BodyError",
      message: "context deadline exceeded (Client.Timeout or context cancellation while reading body)",
    });
    const broken = await serve(t, (stream) => {
      stream.respond({ ":status": 200 });
      stream.write("a beginning", () => setImmediate(() => stream.destroy(new Error("broken"))));
    });
    await assert.rejects(get(broken), {
      name: "BodyError",
      message: "stream error: stream ID 1; INTERNAL_ERROR; received from peer",
    });
  });

  test("a head of 20 KiB is read, one beyond our limit proves nothing", async (t) => {
    const long = await serve(t, answer(200, "well", { "x-long": "x".repeat(20_000) }));
    assert.deepEqual(await get(long), { outcome: "success", output: "well" });
    const endless = await serve(t, (stream) => {
      for (let count = 0; count < 60; count++) stream.additionalHeaders({ ":status": 103, link: "x".repeat(10_000) });
    });
    await assert.rejects(get(endless), {
      name: "BodyError",
      message: "net/http: server response headers exceeded 524288 bytes; aborted",
    });
  });
});

describe("ends of the connection", () => {
  test("a stream that is reset before its response fails the probe", async (t) => {
    const port = await serve(t, (stream) => stream.close(constants.NGHTTP2_HTTP_1_1_REQUIRED));
    const reason = "stream error: stream ID 1; HTTP_1_1_REQUIRED; received from peer";
    assert.deepEqual(await get(port), failed(`Get "https://127.0.0.1:${port}/": ${reason}`));
  });

  test("a request that the server refuses is sent once more, by another connection", async (t) => {
    let asked = 0;
    const port = await serve(t, (stream, headers, raw) => {
      asked++;
      if (asked === 1) stream.close(constants.NGHTTP2_REFUSED_STREAM);
      else answer(200, "well")(stream, headers, raw);
    });
    assert.deepEqual(await get(port), { outcome: "success", output: "well" });
    assert.equal(asked, 2);
  });

  test("a server that goes away without a response fails the probe", async (t) => {
    const port = await serve(t, (stream) => stream.session?.goaway(constants.NGHTTP2_INTERNAL_ERROR, 1));
    const { outcome, output } = await get(port);
    assert.equal(outcome, "failure");
    assert.match(
      output,
      /http2: server sent GOAWAY and closed the connection; LastStreamID=1, ErrCode=INTERNAL_ERROR, debug=""$/,
    );
    const cut = await serve(t, (stream) => stream.session?.destroy());
    assert.equal((await get(cut)).outcome, "failure");
  });

  test("nothing stays in TIME_WAIT, and no socket is left", async (t) => {
    const port = await serve(t, answer(200, "well"));
    const [waiting, open] = [timeWaits(port), openSockets()];
    for (let run = 0; run < 20; run++) assert.equal((await get(port)).outcome, "success");
    assert.equal(waiting(), 0);
    await until("the sockets are closed", () => openSockets() <= open, PATIENCE_MS);
  });
});
