// Manifest URLs on servers that speak HTTP in ways that Go's client bears, or in none.

import assert from "node:assert/strict";
import { createServer } from "node:net";
import { describe, test, type TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { fetchManifest, ManifestFetchError } from "../../../../src/main/pods/sources/fetch-manifest.js";
import { listen } from "../../../support/probe-kit.js";

const never = new AbortController().signal;

async function fetched(t: TestContext, reply: string | Buffer, open = false): Promise<string> {
  const server = createServer((socket) => {
    socket.once("data", () => (open ? socket.write(reply) : socket.end(reply)));
  });
  const url = `http://127.0.0.1:${await listen(t, server)}/pods`;
  return Buffer.from(await fetchManifest(url, {}, never)).toString();
}

describe("responses that Go's client bears", () => {
  const cases: [name: string, reply: string][] = [
    ["lines that end with LF", "HTTP/1.1 200 OK\nContent-Length: 4\n\nkind"],
    ["equal lengths", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\nkind"],
    ["a folded field", "HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 4\r\n\r\nkind"],
    [
      "informational responses",
      `${"HTTP/1.1 103 E\r\n\r\n".repeat(9)}HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nkind`,
    ],
    ["HTTP/1.0 without a length", "HTTP/1.0 200 OK\r\n\r\nkind"],
    ["no reason", "HTTP/1.1 200\r\nContent-Length: 4\r\n\r\nkind"],
    ["bytes after the body", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nkind: more"],
    ["chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4;x=y\r\nkind\r\n0\r\nT: v\r\n\r\n"],
    ["a long head", `HTTP/1.1 200 OK\r\nX: ${"v".repeat(300_000)}\r\nContent-Length: 4\r\n\r\nkind`],
  ];
  for (const [name, reply] of cases) {
    test(name, async (t) => assert.equal(await fetched(t, reply), "kind"));
  }

  test("a compressed body is unpacked", async (t) => {
    const body = gzipSync("kind");
    const head = `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${body.length}\r\n\r\n`;
    assert.equal(await fetched(t, Buffer.concat([Buffer.from(head), body])), "kind");
  });
});

describe("responses that count as none", () => {
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
  const zipped = (body: Buffer): Buffer =>
    Buffer.concat([Buffer.from("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"), body]);
  const cases: [name: string, reply: string | Buffer, message: RegExp][] = [
    ["a body that is too short", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nkind", /unexpected EOF$/],
    ["a broken chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", /invalid byte in chunk length$/],
    ["another protocol", "SSH-2.0-OpenSSH\r\n", /malformed HTTP response "SSH-2.0-OpenSSH"$/],
    ["nothing", "", /EOF$/],
    ["an empty body", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", /the server sent nothing/],
    ["another status", "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", /the server responded with 503 Busy$/],
    ["a redirect to nowhere", "HTTP/1.1 302 x\r\nLocation: http://[::1/\r\n\r\n", /failed to parse Location header/],
    ["a body that unpacks to 64 MiB", zipped(bomb), /larger than 10 MiB$/],
    ["a body that is no gzip", zipped(Buffer.from("kind")), /the body is no gzip/],
  ];
  for (const [name, reply, message] of cases) {
    test(name, async (t) => {
      await assert.rejects(fetched(t, reply), (error: unknown) => {
        assert.ok(error instanceof ManifestFetchError);
        assert.match(error.message, message);
        return true;
      });
    });
  }

  test("a response that does not come ends with the signal's reason", async (t) => {
    const url = `http://127.0.0.1:${await listen(t, createServer())}/`;
    const late = new Error("no response within 10 s");
    const abort = new AbortController();
    const fetching = fetchManifest(url, {}, abort.signal);
    abort.abort(late);
    await assert.rejects(fetching, late);
  });

  for (const url of ["ftp://127.0.0.1/x", "http:///x", "http://127.0.0.1:99999/", "not a url", "http://127.0.0.1:1/"]) {
    test(`the URL ${url}`, async () => {
      await assert.rejects(fetchManifest(url, {}, never), ManifestFetchError);
    });
  }
});
