// Requests in combinations that the recorded table (http-server.jsonl) does not have: bodies where none belong, several
// requests of different kinds on one connection, and paths that are cleaned. Expected is what Go's net/http answers.

import { deepEqual } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { GoPorts, type Response } from "./go-server-kit.js";

const HOST = "Host: localhost\r\n";
const NEXT = `GET /healthz?next HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`;
const CHUNKS = "5\r\nhello\r\n0\r\n\r\n";
const request = (line: string, fields = "", body = ""): string => `${line}\r\n${HOST}${fields}\r\n${body}`;
const sized = (line: string, fields = ""): string => request(line, `${fields}Content-Length: 5\r\n`, "hello");
const chunked = (line: string, body = CHUNKS): string => request(line, "Transfer-Encoding: chunked\r\n", body);

const OK: Response = { line: "HTTP/1.1 200 OK" };
const OK_10: Response = { line: "HTTP/1.0 200 OK" };
const BAD: Response = { line: "HTTP/1.1 400 Bad Request", body: "400 Bad Request" };
const to = (location: string): Response => ({
  line: "HTTP/1.1 307 Temporary Redirect",
  location,
  body: `<a href="${location}">Temporary Redirect</a>.\n\n`,
});

const ROWS: readonly (readonly [title: string, send: string, responses: readonly Response[]])[] = [
  ["HEAD with a body", sized("HEAD /healthz HTTP/1.1") + NEXT, [OK, OK]],
  ["HEAD with a body in chunks", chunked("HEAD /healthz HTTP/1.1") + NEXT, [OK, OK]],
  ["GET with a body", sized("GET /healthz HTTP/1.1") + NEXT, [OK, OK]],
  ["GET with a body in chunks", chunked("GET /healthz HTTP/1.1") + NEXT, [OK, OK]],
  ["TRACE with a body", sized("TRACE /healthz HTTP/1.1") + NEXT, [OK, OK]],
  ["OPTIONS * with a body", sized("OPTIONS * HTTP/1.1") + NEXT, [OK, OK]],
  [
    "DELETE with extensions of chunks and a trailer",
    chunked("DELETE /healthz HTTP/1.1", '3;a="b;c"\r\nhel\r\n2;x\r\nlo\r\n0;y\r\nX-T: z\r\n\r\n') + NEXT,
    [OK, OK],
  ],
  [
    "a trailer that names the length of the body",
    chunked("POST /healthz HTTP/1.1", "5\r\nhello\r\n0\r\nContent-Length: 5\r\nHost: other\r\n\r\n") + NEXT,
    [OK, OK],
  ],
  [
    "chunks of every size up to 15 bytes",
    chunked(
      "PUT /healthz HTTP/1.1",
      `${Array.from({ length: 15 }, (_, at) => `${(at + 1).toString(16)}\r\n${"x".repeat(at + 1)}\r\n`).join("")}0\r\n\r\n`,
    ) + NEXT,
    [OK, OK],
  ],
  [
    "a body that looks like a request",
    request("POST /healthz HTTP/1.1", `Content-Length: ${NEXT.length}\r\n`, NEXT) + NEXT,
    [OK, OK],
  ],
  [
    "a body in chunks that looks like a request",
    chunked("POST /healthz HTTP/1.1", `${NEXT.length.toString(16)}\r\n${NEXT}\r\n0\r\n\r\n`) + NEXT,
    [OK, OK],
  ],
  [
    "HTTP/1.0 kept alive with a body, then not",
    sized("POST /healthz HTTP/1.0", "Connection: keep-alive\r\n") + request("GET /healthz HTTP/1.0") + NEXT,
    [OK_10, OK_10],
  ],
  [
    "HTTP/1.0 without Host between requests of HTTP/1.1",
    `${request("GET /healthz HTTP/1.1")}GET /healthz HTTP/1.0\r\n\r\n${NEXT}`,
    [OK, OK_10],
  ],
  [
    "an upgrade to h2c with a body",
    sized(
      "POST /healthz HTTP/1.1",
      "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n",
    ) + NEXT,
    [OK, OK],
  ],
  [
    "an upgrade to several protocols",
    request("GET /healthz HTTP/1.1", "Connection: upgrade\r\nUpgrade: SPDY/3.1, websocket\r\n") + NEXT,
    [OK, OK],
  ],
  [
    "the preface of HTTP/2 after a request",
    `${request("GET /healthz HTTP/1.1")}PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`,
    [OK, { line: "HTTP/1.1 400 Bad Request" }],
  ],
  [
    "a second request with a fold before its first field",
    `${request("GET /healthz HTTP/1.1")}GET /healthz HTTP/1.1\r\n ${HOST}\r\n${NEXT}`,
    [OK, BAD],
  ],
  [
    "14 requests in one piece",
    request("GET /healthz HTTP/1.1").repeat(14) + NEXT,
    Array.from({ length: 15 }, () => OK),
  ],
  ["a query of semicolons and broken escapes", request("GET /healthz?;;&%zz&a=b;c HTTP/1.1") + NEXT, [OK, OK]],
  [
    "names of fields with all marks of a token",
    request("GET /healthz HTTP/1.1", "!#$%&'*+-.^_`|~: x\r\n") + NEXT,
    [OK, OK],
  ],
  ["many values of one field", request("GET /healthz HTTP/1.1", "X-A: b\r\n".repeat(500)) + NEXT, [OK, OK]],
  ["a path that ends in a dot", request("GET /healthz/. HTTP/1.1") + NEXT, [to("/healthz"), OK]],
  ["a path through another one", request("GET /pods/./../healthz?x=%2e HTTP/1.1") + NEXT, [to("/healthz?x=%2e"), OK]],
  ["a path above the root", request("GET /../../healthz HTTP/1.1") + NEXT, [to("/healthz"), OK]],
  [
    "an escape of an escape",
    request("GET /%2568ealthz HTTP/1.1") + NEXT,
    [{ line: "HTTP/1.1 404 Not Found", body: "404 page not found\n" }, OK],
  ],
];

describe("requests on one connection", () => {
  let ports: GoPorts;
  before(async () => {
    ports = await GoPorts.open();
  });
  after(() => ports.close());

  for (const [title, send, responses] of ROWS) {
    test(title, async () => {
      const { responses: got, open } = await ports.ask(
        "readonly",
        { name: title, send: [send], results: {} },
        { responses },
      );
      deepEqual([got, open], [responses, undefined]);
    });
  }
});
