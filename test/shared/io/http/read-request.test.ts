// Malformed parts of a head that the parsers of both protocols let through.

import { deepEqual, equal } from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";
import { readHttp2, readNodeHttp1, type Reading } from "../../../../src/shared/io/http/read-request.js";

const whyOf = (reading: Reading): string | undefined => (reading.kind === "refused" ? reading.refusal.why : undefined);
const HTTP2 = { ":method": "GET", ":path": "/pods", ":scheme": "https", ":authority": "node:1" };

test("a head of HTTP/2 is malformed with an odd pseudo-header", () => {
  const table: [Record<string, string | undefined>, string | undefined][] = [
    [{}, undefined],
    [{ ":authority": undefined }, undefined],
    [{ ":method": "constructor" }, undefined],
    [{ ":method": "" }, "malformed method"],
    [{ ":method": "GET /" }, "malformed method"],
    [{ ":method": "CONNECT" }, "malformed request target"],
    [{ ":scheme": "http" }, "unsupported scheme"],
    [{ ":scheme": undefined }, "unsupported scheme"],
    [{ ":path": undefined }, "malformed request target"],
    [{ ":path": "*" }, "malformed request target"],
    [{ ":path": "https://node:1/pods" }, "malformed request target"],
    [{ ":path": "/pods#" }, "malformed request target"],
    [{ ":authority": "" }, "the authority names no host"],
    [{ ":authority": "u@node:1" }, "malformed Host header"],
  ];
  for (const [changed, why] of table) {
    const headers = Object.fromEntries(Object.entries({ ...HTTP2, ...changed }).filter(([, value]) => value));
    if (changed[":method"] === "") headers[":method"] = "";
    if (changed[":authority"] === "") headers[":authority"] = "";
    equal(whyOf(readHttp2(headers, [], "https")), why, JSON.stringify(changed));
  }
  equal(whyOf(readHttp2(HTTP2, ["host", "other"], "https")), "the Host header names another host than the authority");
});

test("OPTIONS * of HTTP/2 is about the server", () => {
  equal(readHttp2({ ...HTTP2, ":method": "OPTIONS", ":path": "*" }, [], "https").kind, "server options");
});

test("a head of HTTP/1 is read as method, target and host", () => {
  const head = { method: "GET", httpVersionMajor: 1, httpVersionMinor: 1, url: "https://Node:1/a%20b?c" };
  const read = (changed: Partial<IncomingMessage>): Reading =>
    readNodeHttp1({ ...head, rawHeaders: ["hOsT", "node:1"], ...changed } as IncomingMessage, "https");
  const host = { name: "node", port: 1 };
  const target = {
    ...{ path: "/a b", segments: ["a b"], isUtf8: true, query: "c" },
    ...{ raw: { path: "/a%20b", query: "c" }, authority: host },
  };
  deepEqual(read({}), { kind: "request", request: { method: "GET", target, host } });
  equal(whyOf(read({ rawHeaders: ["Host", "node:2"] })), "the request target names another host than the Host header");
  equal(whyOf(read({ httpVersionMajor: 2, httpVersionMinor: 0 })), "unsupported protocol version");
  equal(whyOf(read({ rawHeaders: ["Host", "a", "Host", "a"] })), "too many Host headers");
});
