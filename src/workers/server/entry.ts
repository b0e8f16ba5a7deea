// The first thing that a port or socket does with a request: it reads the request's head once, and answers a malformed one. What follows
// gets the value that was read, and does not look at the request's URL again.
// Path cleaning with redirects, as upstream's ServeMux does it, would be here: after the reading and before the gate.
import type { IncomingMessage, ServerResponse } from "node:http";
import { readRequest, type ReadRequest } from "../../shared/http/read-request.js";
import type { Scheme } from "../../shared/http/target.js";
import type { Upgrade } from "./answer.js";
import { replyPlain } from "./reply.js";

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
    const reading = readRequest(request, scheme);
    if (reading.kind === "request") {
      next(request, response, reading.request, upgrade);
      return;
    }
    onMalformed(request, response, reading.why);
    // As Go's server does. Where such a request ends is as uncertain as what it asks for.
    response.shouldKeepAlive = false;
    request.resume();
    replyPlain(response, 400, `400 Bad Request: ${reading.why}`);
  };
}
