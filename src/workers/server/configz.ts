// /configz: the effective configuration, with ?origin=1 also where each value comes from. Upstream has it on the
// authenticated port only; the plain ports therefore answer it to clients of this machine alone.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ConfigzBodies } from "../../shared/contracts/server.js";
import { queryOf, replyError, replyText } from "./reply.js";

/** A client on another machine gets 403. */
export function replyConfigz(request: IncomingMessage, response: ServerResponse, bodies: ConfigzBodies): void {
  if (!isLoopback(request.socket.remoteAddress)) {
    replyError(response, 403, "configz is answered to clients on this machine only");
    return;
  }
  replyConfigzTo(request, response, bodies);
}

/** To whoever was let in. */
export function replyConfigzTo(request: IncomingMessage, response: ServerResponse, bodies: ConfigzBodies): void {
  const wantsOrigins = /^(1|true|t)$/i.test(queryOf(request).get("origin") ?? "");
  replyText(response, wantsOrigins ? bodies.withOrigins : bodies.plain, "application/json");
}

/** 127.0.0.0/8, ::1, and the former as a mapped IPv6 address. */
export function isLoopback(address: string | undefined): boolean {
  return address !== undefined && /^(::1|(::ffff:)?127\.\d+\.\d+\.\d+)$/i.test(address);
}
