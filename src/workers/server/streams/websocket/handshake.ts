// A WebSocket's opening handshake: checked before the call to the runtime, completed when the runtime has switched.

import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type ServerOptions, type WebSocket } from "ws";
import { HandshakeError } from "./offer.js";

/**
 * Most bytes of a message, which is held whole. Clients built on client-go send 32 KiB at most. A longer one closes the
 * connection with 1009.
 */
export const MAX_MESSAGE = 1024 * 1024;

/** Internals of `ws` that its published types omit. */
interface Options extends ServerOptions {
  /** Milliseconds from our close frame until the connection is cut. */
  closeTimeout: number;
  /** Answers to pings that wait to go out; one more cuts the connection. */
  maxPendingAutoPongs: number;
}

const OPTIONS: Options = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: MAX_MESSAGE,
  // One read of a connection may have eight thousand frames: each has a turn of the loop, so that others have theirs.
  allowSynchronousEvents: false,
  // Each may hold the whole read from the socket in which it came, 16 KiB: 2 MiB in all.
  maxFragments: 128,
  // While a message is incomplete: 256 bytes each where it is of the largest size.
  maxBufferedChunks: 4096,
  // Text is passed on as bytes.
  skipUTF8Validation: true,
  // kubectl's of 85 minutes.
  maxPendingAutoPongs: 1024,
  // The longest there is: a client that reads slowly is left its time, and its end is the tunnel's matter.
  closeTimeout: 2 ** 31 - 1,
};

/** 16 bytes in base64. */
const KEY = /^[+/0-9A-Za-z]{22}==$/;

/** @throws HandshakeError */
export function checkHandshake({ method, headers }: Pick<IncomingMessage, "method" | "headers">): void {
  if (method !== "GET") throw new HandshakeError("a WebSocket handshake must use GET");
  if (headers["sec-websocket-version"] !== "13") {
    throw new HandshakeError("only WebSocket version 13 is supported (Sec-WebSocket-Version)");
  }
  if (!KEY.test(headers["sec-websocket-key"] ?? "")) {
    throw new HandshakeError("Sec-WebSocket-Key must be 16 bytes in base64");
  }
}

/**
 * Answers a handshake that was checked.
 * @param head what came with the request's last bytes
 * @param protocol the one chosen of those offered; empty: none
 * @returns undefined: the client disconnected
 */
export function openWebSocket(
  request: IncomingMessage,
  client: Duplex,
  head: Buffer,
  protocol: string,
): WebSocket | undefined {
  const server = new WebSocketServer(OPTIONS);
  if (protocol !== "") server.on("headers", (lines) => lines.push(`Sec-WebSocket-Protocol: ${protocol}`));
  let opened: WebSocket | undefined;
  server.handleUpgrade(withoutProtocols(request), client, head, (socket) => (opened = socket));
  return opened;
}

/** Kubernetes' "SPDY/3.1+portforward.k8s.io" is no token, for which `ws` would refuse the request. */
function withoutProtocols(request: IncomingMessage): IncomingMessage {
  const headers = { ...request.headers, "sec-websocket-protocol": undefined };
  return Object.create(request, { headers: { value: headers } }) as IncomingMessage;
}
