// How a client is joined to the runtime: the request to the runtime, the answer to the client, then the data between them.
import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

export interface Ends {
  client: Duplex;
  runtime: Socket;
}

/** Bytes that arrived after the last HTTP header of either side. */
export interface Heads {
  client: Buffer;
  runtime: Buffer;
}

export interface Passage {
  /** Of the request to the runtime. */
  readonly method: string;
  readonly headers: OutgoingHttpHeaders;
  /** Looks at how the runtime has switched. @throws Error when it has not switched to what was asked */
  switched(reply: IncomingMessage): Join;
}

/**
 * Tells the client that it may go on, and moves bytes from now on, each side as fast as the other takes them. Invariant:
 * however the runtime's connection ends, the client's is ended after what was there for it, and read on so that its own end is
 * seen.
 */
export type Join = (ends: Ends, heads: Heads) => void;

/** What is the client's and the server's alone. */
const KEPT_BACK = new Set(["host", "authorization", "cookie", "expect", "content-length", "transfer-encoding"]);

/**
 * The client's headers as the runtime is to see them.
 * @param protocols the value of Sec-WebSocket-Protocol that goes on
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

/** Bytes as they are: what the client and the runtime speak is theirs. */
export function bytesAsTheyAre(request: IncomingMessage, protocols: (offered: string) => string): Passage {
  return {
    method: request.method ?? "GET",
    headers: headersFor(request, protocols),
    switched: (reply) => (ends, heads) => joinAsTheyAre(headOf(reply), ends, heads),
  };
}

function joinAsTheyAre(head: string, { client, runtime }: Ends, heads: Heads): void {
  client.write(head);
  if (heads.client.length > 0) runtime.write(heads.client);
  if (heads.runtime.length > 0) client.write(heads.runtime);
  client.pipe(runtime);
  runtime.pipe(client);
  runtime.once("close", () => {
    client.end();
    // It has no reader any more, and its end is to be seen.
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
