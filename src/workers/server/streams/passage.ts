// Connects a client with the runtime: first the request to the runtime, then the response, then data in both
// directions.

import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

export interface Connections {
  client: Duplex;
  runtime: Socket;
}

/** Bytes that arrived after the last HTTP header of either side. */
export interface FirstBytes {
  client: Buffer;
  runtime: Buffer;
}

export interface Passthrough {
  /** HTTP method of the request to the runtime. */
  readonly method: string;
  readonly headers: OutgoingHttpHeaders;
  /** Checks the runtime's switch of protocols. @throws Error if it has not switched to the requested one */
  switched(reply: IncomingMessage): StartCopying;
}

/**
 * Confirms the switch to the client. Then it copies bytes in both directions, each as fast as the receiver reads.
 * Invariant: the client gets all bytes of the runtime's connection before its own connection is closed, also after an
 * error. That connection is read until its end.
 */
export type StartCopying = (ends: Connections, heads: FirstBytes) => void;

/** Headers that are not passed on. */
const KEPT_BACK = new Set(["host", "authorization", "cookie", "expect", "content-length", "transfer-encoding"]);

/**
 * The client's headers as the runtime is to see them.
 * @param protocols the forwarded value of Sec-WebSocket-Protocol
 */
export function headersFor(request: IncomingMessage, protocols: (offered: string) => string): OutgoingHttpHeaders {
  const headers: Record<string, string[]> = {};
  for (let i = 0; i + 1 < request.rawHeaders.length; i += 2) {
    const name = request.rawHeaders[i] ?? "";
    const value = request.rawHeaders[i + 1] ?? "";
    const known = name.toLowerCase();
    if (KEPT_BACK.has(known) || known.startsWith("impersonate-")) continue;
    const passed = known === "sec-websocket-protocol" ? protocols(value) : value;
    if (passed !== "" || value === "") (headers[name] ??= []).push(passed);
  }
  return headers;
}

/** Passes bytes unchanged: client and runtime have negotiated the protocol. */
export function rawPassthrough(request: IncomingMessage, protocols: (offered: string) => string): Passthrough {
  return {
    method: request.method ?? "GET",
    headers: headersFor(request, protocols),
    switched: (reply) => (ends, heads) => copyBothWays(headOf(reply), ends, heads),
  };
}

function copyBothWays(head: string, { client, runtime }: Connections, heads: FirstBytes): void {
  client.write(head);
  if (heads.client.length > 0) runtime.write(heads.client);
  if (heads.runtime.length > 0) client.write(heads.runtime);
  client.pipe(runtime);
  runtime.pipe(client);
  runtime.once("close", () => {
    client.end();
    // It has no reader any more, but its end must be noticed.
    client.resume();
  });
}

function headOf(reply: IncomingMessage): string {
  let head = `HTTP/1.1 ${reply.statusCode ?? 101} ${reply.statusMessage ?? ""}\r\n`;
  for (let i = 0; i + 1 < reply.rawHeaders.length; i += 2) {
    head += `${reply.rawHeaders[i] ?? ""}: ${reply.rawHeaders[i + 1] ?? ""}\r\n`;
  }
  return `${head}\r\n`;
}
