// What a WebSocket client offers to speak. Looked at for every stream, so nothing of a translation is loaded for it.
import type { IncomingMessage } from "node:http";
import { protocolsOf } from "../../auth/bearer.js";

/** exec and attach with one channel per stream, each of which the client can half-close. */
export const CHANNELS_V5 = "v5.channel.k8s.io";
/** Prefix of a subprotocol that tunnels SPDY inside WebSocket messages. */
export const TUNNEL_PREFIX = "SPDY/3.1+";

/** The request asks for a WebSocket in a way that none can be made of: 400 with this text. */
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

/** The protocols that a client would speak over tunnelled SPDY, without the prefix; empty: it asks for no tunnel. */
export function tunnelledProtocols(request: Asked): string[] {
  if (!isWebSocket(request)) return [];
  return protocolsOf(request.headers)
    .filter((name) => name.startsWith(TUNNEL_PREFIX) && name.endsWith(".k8s.io"))
    .map((name) => name.slice(TUNNEL_PREFIX.length));
}
