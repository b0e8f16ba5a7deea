// Which clients get compressed metrics pages, and what happens if a page fails or a client leaves during the response.
// @promise Server: Metrics pages are compressed for clients that accept gzip, one piece at a time.
// @with test/integration/pod-server.test.ts

import { deepEqual, equal, rejects } from "node:assert/strict";
import { once } from "node:events";
import { createServer, request, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { test, type TestContext } from "node:test";
import { gunzipSync } from "node:zlib";
import { acceptsGzip, replyPage, writePage } from "../../../../src/workers/server/http/compress.js";

const headers: [header: string | undefined, accepts: boolean][] = [
  [undefined, false],
  ["", false],
  ["identity", false],
  ["gzip", true],
  ["GZIP", true],
  ["deflate, gzip;q=1.0, *;q=0.5", true],
  ["gzip;q=0", false],
  ["gzip; q=0.0, *", false],
  ["*", true],
  ["*;q=0", false],
  ["*;q=0, gzip", true],
  ["gzip;q=none", false],
  ["gzipped", false],
];
for (const [header, accepts] of headers) {
  test(`Accept-Encoding ${String(header)}: ${accepts ? "gzip" : "plain"}`, () => equal(acceptsGzip(header), accepts));
}

async function ask(
  t: TestContext,
  answer: Parameters<typeof createServer>[1],
  accepted = "gzip",
): Promise<IncomingMessage> {
  const server = createServer({}, answer);
  t.after(() => server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const sent = request({ port, host: "127.0.0.1", headers: { "accept-encoding": accepted }, agent: false }).end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return response;
}

test("a page at once and a page in pieces: the same text, compressed", async (t) => {
  const text = "kubelet_running_pods 1\n".repeat(1000);
  const whole = await ask(t, (req, res) => void replyPage(req, res, text, "text/plain"));
  const pieces = await ask(
    t,
    (req, res) => void writePage(req, res, [text.slice(0, 500), text.slice(500)], "text/plain"),
  );
  for (const response of [whole, pieces]) {
    deepEqual([response.headers["content-encoding"], response.headers["content-type"]], ["gzip", "text/plain"]);
    const body = await buffer(response);
    equal(gunzipSync(body).toString(), text);
    equal(body.length < text.length / 10, true);
  }
  const plain = await ask(t, (req, res) => void writePage(req, res, [text], "text/plain"), "br");
  equal(plain.headers["content-encoding"], undefined);
  equal((await buffer(plain)).toString(), text);
});

test("a page that fails on its way rejects with its error", async (t) => {
  let failed: Promise<void> | undefined;
  function* page(): Generator<string> {
    yield "a 1\n";
    throw new Error("no such cgroup");
  }
  const response = await ask(t, (req, res) => {
    failed = writePage(req, res, page(), "text/plain");
    failed.catch(() => res.end());
  });
  response.resume();
  await rejects(failed ?? Promise.resolve(), /no such cgroup/);
});

test("a client that leaves ends the page, compressed or not", async (t) => {
  for (const accepted of ["gzip", "identity"]) {
    let ended: () => void = () => undefined;
    const left = new Promise<void>((resolve) => (ended = resolve));
    let line = 0;
    function* page(): Generator<string> {
      try {
        for (;;) yield `a{line="${line++}",random="${Math.random()}"} 1\n`.repeat(100);
      } finally {
        ended();
      }
    }
    const response = await ask(t, (req, res) => void writePage(req, res, page(), "text/plain"), accepted);
    response.on("error", () => undefined).destroy();
    await left;
  }
});
