// The first thing that a port or socket does with a request: it reads the request's target and host once, and answers a
// malformed one. What follows gets the value that was read, and does not look at the request's URL again.

import type { IncomingMessage, ServerResponse } from "node:http";
import { readHttp1, readHttp2, type ReadRequest, type Reading } from "../../../shared/io/http/read-request.js";
import type { Refusal } from "../../../shared/io/http/server/refusal.js";
import type { Scheme } from "../../../shared/io/http/target.js";
import type { Upgrade } from "./answer.js";
import { headOf } from "./http1/heads.js";
import { TEXT } from "./reply.js";

/** What Node hands over; never throws, never rejects. */
export type Lookup = (request: IncomingMessage, response: ServerResponse, upgrade?: Upgrade) => void;

export type Entered = (
  request: IncomingMessage,
  response: ServerResponse,
  read: ReadRequest,
  upgrade?: Upgrade,
) => void;

/** @param onMalformed before the response; not called for requests that are read */
export function entry(
  scheme: Scheme,
  next: Entered,
  onMalformed: (request: IncomingMessage, response: ServerResponse, why: string) => void = () => undefined,
): Lookup {
  return (request, response, upgrade) => {
    const reading = read(request, scheme);
    if (reading.kind === "request") {
      next(request, response, reading.request, upgrade);
      return;
    }
    request.resume();
    if (reading.kind === "server options") {
      response.writeHead(200, { "Content-Length": "0" }).end();
      return;
    }
    onMalformed(request, response, reading.refusal.why);
    // HTTP/2 has no text beside the status.
    if (headOf(request) !== undefined) response.statusMessage = reading.refusal.reason;
    refuse(response, reading.refusal);
  };
}

function read(request: IncomingMessage, scheme: Scheme): Reading {
  const head = headOf(request);
  if (head === undefined) return readHttp2(request.headers, request.rawHeaders, scheme);
  if (head.kind === "refused") return head;
  return head.expects === "unknown" ? { kind: "refused", refusal: UNKNOWN_EXPECTATION } : readHttp1(head, scheme);
}

const UNKNOWN_EXPECTATION: Refusal = {
  status: 417,
  reason: "Expectation Failed",
  body: "",
  why: "an expectation other than 100-continue",
};

/** As Go's server does. Where such a request ends is as uncertain as what it asks for. */
function refuse(response: ServerResponse, { status, body }: Refusal): void {
  const type: Record<string, string> = body === "" ? {} : { "Content-Type": TEXT };
  response.shouldKeepAlive = false;
  response.writeHead(status, { ...type, "Content-Length": String(Buffer.byteLength(body)) });
  response.end(body);
}
