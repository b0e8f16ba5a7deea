// Manifest URLs by HTTPS on servers that speak HTTP/2. A process of its own fetches them: Node reads further
// authorities only when it starts.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { createSecureServer, type ServerHttp2Stream } from "node:http2";
import { createServer as createTlsServer } from "node:https";
import { after, before, describe, test, type TestContext } from "node:test";
import { connect as connectTls } from "node:tls";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { getOverHttp2 } from "../../../../src/main/pods/sources/get-over-http2.js";
import { listen } from "../../../support/probe-kit.js";
import { certFolder, type CertFolder, type TestCa, type TestPair } from "../../../support/test-certs.js";

const run = promisify(execFile);
const FETCH = `
  const { fetchManifest } = await import(process.argv[1]);
  const body = await fetchManifest(process.argv[2], { "X-Token": ["secret"] }, AbortSignal.timeout(60_000)).catch(
    (error) => "failed: " + error.message,
  );
  process.stdout.write(body);
`;

let folder: CertFolder;
let authority: TestCa;
let own: TestPair;
before(async () => {
  folder = await certFolder();
  authority = await folder.ca("manifests");
  own = await authority.issue("/CN=manifests");
});
after(() => folder.remove());

async function fetched(port: number, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const module = new URL("../../../../src/main/pods/sources/fetch-manifest.js", import.meta.url).href;
  const args = ["--input-type=module", "-e", FETCH, module, `https://127.0.0.1:${port}/pods?x=1`];
  const trust = { NODE_EXTRA_CA_CERTS: authority.certFile };
  return (await run(process.execPath, args, { env: { ...process.env, ...trust, ...env } })).stdout;
}

type OnStream = (stream: ServerHttp2Stream, headers: Record<string, unknown>) => void;

/** A server that speaks nothing but HTTP/2. */
function serve(t: TestContext, onStream: OnStream): Promise<number> {
  const server = createSecureServer({ key: own.key, cert: own.cert, allowHTTP1: false });
  server.on("session", (session) => session.on("error", () => undefined));
  server.on("stream", (stream: ServerHttp2Stream, headers) => {
    stream.on("error", () => undefined);
    onStream(stream, headers);
  });
  return listen(t, server);
}

describe("a manifest URL by HTTPS", () => {
  test("is read of a server that speaks HTTP/2 alone, with the headers of the configuration", async (t) => {
    const port = await serve(t, (stream, headers) => {
      stream.respond({ ":status": 200, "content-encoding": "gzip" });
      stream.end(gzipSync(`${String(headers[":path"])} ${String(headers["x-token"])}`));
    });
    assert.equal(await fetched(port), "/pods?x=1 secret");
  });

  test("a redirect is followed to its target", async (t) => {
    const port = await serve(t, (stream, headers) => {
      if (headers[":path"] === "/other") stream.respond({ ":status": 200 });
      else stream.respond({ ":status": 302, location: "/other" });
      stream.end("kind");
    });
    assert.equal(await fetched(port), "kind");
  });

  test("is read by HTTP/1.1 of a server without HTTP/2, and of any with GODEBUG=http2client=0", async (t) => {
    const pair = { key: own.key, cert: own.cert };
    const old = createTlsServer(pair, (request, response) => response.end(request.httpVersion));
    assert.equal(await fetched(await listen(t, old)), "1.1");
    const both = createSecureServer({ ...pair, allowHTTP1: true }, (request, response) =>
      response.end(request.httpVersion),
    );
    const port = await listen(t, both);
    assert.equal(await fetched(port), "2.0");
    assert.equal(await fetched(port, { GODEBUG: "madvdontneed=1,http2client=0" }), "1.1");
  });

  const failures: [name: string, onStream: OnStream, message: RegExp][] = [
    ["another status", (stream) => (stream.respond({ ":status": 503 }), stream.end()), /responded with 503$/],
    [
      "a body that is reset",
      (stream) => {
        stream.respond({ ":status": 200 });
        stream.write("ki", () => setImmediate(() => stream.destroy(new Error("broken"))));
      },
      /INTERNAL_ERROR$/,
    ],
    [
      "a connection that ends",
      (stream) => stream.session?.destroy(),
      /(unexpected EOF|ECONNRESET|hang up|stream error: .*)$/,
    ],
    [
      "a body without end",
      (stream) => {
        stream.respond({ ":status": 200 });
        const more = (): void => {
          while (stream.writable && stream.write(Buffer.alloc(65_536)));
        };
        stream.on("drain", more);
        more();
      },
      /larger than 10 MiB$/,
    ],
  ];
  for (const [name, onStream, message] of failures) {
    test(`fails for ${name}`, async (t) => {
      assert.match(await fetched(await serve(t, onStream)), message);
    });
  }

  test("fails for a certificate of an unknown authority", async (t) => {
    const port = await serve(t, (stream) => stream.end("kind"));
    assert.match(await fetched(port, { NODE_EXTRA_CA_CERTS: "" }), /^failed: manifest .*certificate/);
  });

  test("whose time is over after the handshake does not wait for the server", async (t) => {
    const port = await serve(t, () => undefined);
    const socket = connectTls({ port, host: "127.0.0.1", ALPNProtocols: ["h2"], rejectUnauthorized: false });
    socket.on("error", () => undefined);
    await once(socket, "secureConnect");
    const reason = new Error("the time is over");
    const limits = { bodyBytes: 1024, signal: AbortSignal.abort(reason) };
    const url = new URL(`https://127.0.0.1:${port}/`);
    await assert.rejects(getOverHttp2(socket, { url, headers: {} } as never, limits), reason);
    assert.ok(socket.destroyed);
  });
});
