// What is malformed in a head that Node's parsers let through, in both versions of the protocol.
import { deepEqual, equal } from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";
import { readRequest } from "../../../src/shared/http/read-request.js";

const whyOf = (message: Partial<IncomingMessage>): string | undefined => {
  const reading = readRequest(message as IncomingMessage, "https");
  return reading.kind === "malformed" ? reading.why : undefined;
};
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
    equal(whyOf({ headers, rawHeaders: [] }), why, JSON.stringify(changed));
  }
  equal(
    whyOf({ headers: HTTP2, rawHeaders: ["host", "other"] }),
    "the Host header names another host than the authority",
  );
});

test("a head of HTTP/1 is read as method, target and host", () => {
  const head = { headers: {}, method: "GET", httpVersion: "1.1", url: "https://Node:1/a%20b?c" };
  const reading = readRequest({ ...head, rawHeaders: ["hOsT", "node:1"] } as unknown as IncomingMessage, "https");
  const host = { name: "node", port: 1 };
  deepEqual(reading, {
    kind: "request",
    request: { method: "GET", target: { path: "/a b", query: "c", authority: host }, host },
  });
  equal(
    whyOf({ ...head, rawHeaders: ["Host", "node:2"] }),
    "the request target names another host than the Host header",
  );
  equal(whyOf({ ...head, httpVersion: "2.0", rawHeaders: ["Host", "node:1"] }), "unsupported HTTP version");
});
