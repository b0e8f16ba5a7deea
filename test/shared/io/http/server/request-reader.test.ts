// The reader of requests: where it is cut makes no difference, and Node's parser finds exactly the requests that were
// read.

import { deepEqual, equal, ok } from "node:assert/strict";
import { createServer, type IncomingMessage } from "node:http";
import { Duplex } from "node:stream";
import { test } from "node:test";
import fc from "fast-check";
import type { RequestHead } from "../../../../../src/shared/io/http/server/request-head.js";
import {
  MAX_HEAD_BYTES,
  RequestReader,
  type Refused,
  type RequestSink,
} from "../../../../../src/shared/io/http/server/request-reader.js";
import { until } from "../../../../support/sources-kit.js";

class Recorder implements RequestSink {
  readonly heads: (RequestHead | Refused)[] = [];
  readonly passed: Buffer[] = [];
  broken: string | undefined;
  held = 0;
  constructor(private readonly room = Infinity) {}

  onHead(head: RequestHead | Refused): void {
    this.heads.push(head);
  }
  pass(bytes: Buffer): void {
    this.passed.push(bytes);
  }
  onBrokenBody(why: string): void {
    this.broken = why;
  }
  mayHold(bytes: number): boolean {
    this.held = Math.max(this.held, bytes);
    return bytes <= this.room;
  }
}

function read(pieces: readonly Buffer[], upgrades = true, sink = new Recorder()): Recorder {
  const reader = new RequestReader(sink, { upgrades });
  for (const piece of pieces) reader.feed(piece);
  return sink;
}

const bytesOf = (text: string): Buffer => Buffer.from(text, "latin1");
const shown = ({ heads, passed, broken }: Recorder): unknown => [heads, withoutCuts(passed), broken];
/** Chunks of a body are written as they arrive. */
const withoutCuts = (passed: readonly Buffer[]): string =>
  Buffer.concat(passed)
    .toString("latin1")
    .replaceAll(/\r\n[\da-f]+\r\n(?=[^])/g, "");

/** Requests and pieces of them, so that most are read for a while. */
const PIECES = [
  "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n",
  "POST / HTTP/1.1\nHost: a\nContent-Length: 5\n\nhello",
  "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nT: u\r\n\r\n",
  "GET / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n",
  "get * HTTP/1.7\r\nHost:\r\n a\r\nX: \xe4\r\nProxy-Connection: close\r\n\r\n",
  "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
  ...[
    "\r\n",
    "\n",
    " ",
    "Content-Length: 3\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Host: a\r\n",
    "0\r\n\r\n",
    "X",
    ":",
    "\0",
  ],
];
const bytes = fc
  .array(fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...PIECES) }, fc.string({ maxLength: 4 })), { maxLength: 8 })
  .map((parts) => bytesOf(parts.join("")));

test("the requests are the same wherever their bytes are cut", () => {
  fc.assert(
    fc.property(bytes, fc.array(fc.nat(60)), (whole, cuts) => {
      const pieces: Buffer[] = [];
      let at = 0;
      for (const cut of cuts) {
        pieces.push(whole.subarray(at, at + cut));
        at += cut;
      }
      pieces.push(whole.subarray(at));
      deepEqual(shown(read(pieces)), shown(read([whole])));
      deepEqual(shown(read([...whole].map((byte) => Buffer.of(byte)))), shown(read([whole])));
    }),
    { numRuns: 400 },
  );
});

class Connection extends Duplex {
  override _read(): void {
    // Pushed by the test.
  }
  override _write(_chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    done();
  }
}

test("Node's parser finds the requests that were read, with their bodies, and no other", async () => {
  await fc.assert(
    fc.asyncProperty(bytes, async (whole) => {
      const sink = read([whole], false);
      const found: { request: IncomingMessage; body: string }[] = [];
      let problem: unknown;
      const server = createServer({ maxHeaderSize: 2 * MAX_HEAD_BYTES, requireHostHeader: false }, (request) => {
        const one = { request, body: "" };
        found.push(one);
        request.on("data", (part: Buffer) => (one.body += part.toString("latin1")));
      });
      server.on("clientError", (error) => (problem = error));
      const connection = new Connection();
      server.emit("connection", connection);
      for (const part of sink.passed) connection.push(part);
      await until(() => connection.readableLength === 0);
      equal(problem, undefined);
      equal(found.length, sink.heads.length);
      for (const [at, head] of sink.heads.entries()) {
        if (head.kind === "refused") continue;
        const { headers, rawHeaders } = found[at]?.request ?? { headers: {}, rawHeaders: [] };
        equal(headers["content-length"], head.framing.kind === "length" ? head.framing.digits : undefined);
        equal(headers["transfer-encoding"], head.framing.kind === "chunked" ? "chunked" : undefined);
        equal(rawHeaders.filter((name) => name.toLowerCase() === "proxy-connection").length, 0);
        ok((found[at]?.body.length ?? 0) <= (head.framing.kind === "length" ? head.framing.bytes : Infinity));
      }
      connection.destroy();
    }),
    { numRuns: 300 },
  );
});

test("a head without end is refused at Go's limit, at the limit of its fields, and when memory is short", () => {
  const start = "GET / HTTP/1.1\r\nHost: a\r\n";
  const statusOf = (sink: Recorder): number | undefined => {
    const [head] = sink.heads;
    return head?.kind === "refused" ? head.refusal.status : undefined;
  };
  const long = bytesOf("x".repeat(64 * 1024));
  const pieces = Array.from({ length: 17 }, () => long);
  equal(statusOf(read([bytesOf(`${start}X: `), ...pieces])), 431);
  equal(statusOf(read([bytesOf(`${start}X: `), ...pieces.slice(2)])), undefined);
  equal(statusOf(read([bytesOf(start + "a:\r\n".repeat(10_100))])), 431);
  const small = read([bytesOf(`${start}X: `), ...pieces], true, new Recorder(100_000));
  equal(statusOf(small), 431);
  equal(small.passed.length, 1, "Node's parser gets the stand-in alone");
  // A field takes memory beside its text.
  const fields = read([bytesOf(start + "a:\r\n".repeat(1000))]);
  ok(fields.held > 100_000, String(fields.held));
});

test("after an upgrade every byte passes as it is", () => {
  const head = "GET / HTTP/1.1\r\nHost: a\r\nConnection: x, upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n";
  const sink = read([bytesOf(`${head}\0\r\n`), bytesOf("GET")]);
  equal(Buffer.concat(sink.passed.slice(1)).toString("latin1"), "\0\r\nGET");
  equal(
    read([bytesOf(`${head}\0\r\n\r\n`)], false).heads.length,
    2,
    "where none is passed on, it is a request like others",
  );
});

const CHUNKED = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

test("a head in pieces of one byte takes about as much memory as in one piece", () => {
  const sink = new Recorder();
  const reader = new RequestReader(sink, { upgrades: true });
  const memory = (): number => process.memoryUsage().heapUsed + process.memoryUsage().external;
  reader.feed(bytesOf("GET / HTTP/1.1\r\nHost: a\r\nX: "));
  const before = memory();
  for (let at = 0; at < 300_000; at++) reader.feed(Buffer.allocUnsafeSlow(1).fill("x"));
  const grown = memory() - before;
  // Garbage may be in it. An object for each byte would be 100 MB or more, and none of it garbage.
  ok(grown < 50_000_000, `${grown} bytes`);
  reader.feed(bytesOf("\r\n\r\n"));
  equal(sink.heads[0]?.kind, "head");
  ok(sink.passed[0]?.includes("x".repeat(300_000)));
});

test("lines that continue a field count as memory, like fields", () => {
  const folds = " \n".repeat(2000);
  const { held, heads } = read([bytesOf(`GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\n${folds}`)], true, new Recorder());
  ok(held > 2000 * 100, `${held} bytes`);
  equal(heads.length, 0);
  const refused = read([bytesOf(`GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\n${folds}`)], true, new Recorder(64 * 1024));
  equal(refused.heads[0]?.kind, "refused");
});

test("a body of many chunks of one byte reaches Node's parser in one chunk for each piece, and breaks off where the client's does", () => {
  const tiny = "1\r\nx\r\n".repeat(10_000);
  const whole = read([bytesOf(CHUNKED), bytesOf(tiny), bytesOf(`${tiny}0\r\n\r\n`)]);
  equal(whole.passed.length, 4, "head, two chunks, the end");
  equal(withoutCuts(whole.passed).match(/x/g)?.length, 20_000);
  const broken = read([bytesOf(CHUNKED), bytesOf(`${tiny}zz`), bytesOf("\r\n")]);
  equal(withoutCuts(broken.passed).match(/x/g)?.length, 10_000);
  ok(broken.broken !== undefined);
});
