// The subprotocols that a WebSocket client offers. Read for each stream, so this file loads no code of the translation.

import type { IncomingMessage } from "node:http";
import { protocolsOf } from "../../auth/bearer.js";

/** exec and attach with one channel per stream, each of which the client can half-close. */
export const CHANNELS_V5 = "v5.channel.k8s.io";
/** Prefix of a subprotocol that tunnels SPDY inside WebSocket messages. */
export const TUNNEL_PREFIX = "SPDY/3.1+";

/** The request is not a valid WebSocket handshake: 400 with this text. */
export class HandshakeError extends Error {
  override readonly name = "HandshakeError";
}

type Asked = Pick<IncomingMessage, "headers">;

export function isWebSocket({ headers }: Asked): boolean {
  return (headers.upgrade ?? "").toLowerCase() === "websocket";
}

export function offersV5(request: Asked): boolean {
  return isWebSocket(request) && protocolsOf(request.headers).includes(CHANNELS_V5);
}

/** The protocols of a client for tunnelled SPDY, without the prefix; empty: it requests no tunnel. */
export function tunnelledProtocols(request: Asked): string[] {
  if (!isWebSocket(request)) return [];
  return protocolsOf(request.headers)
    .filter((name) => name.startsWith(TUNNEL_PREFIX) && name.endsWith(".k8s.io"))
    .map((name) => name.slice(TUNNEL_PREFIX.length));
}
