// The server's half of a WebSocket's opening handshake (RFC 6455, section 4.2); no extension is agreed to.
import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { HandshakeError } from "./offer.js";

const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/** 16 bytes in base64. */
const KEY = /^[+/0-9A-Za-z]{22}==$/;

/** The answer to the client's key. @throws HandshakeError */
export function acceptKey({ method, headers }: Pick<IncomingMessage, "method" | "headers">): string {
  if (method !== "GET") throw new HandshakeError("a WebSocket is asked for with GET");
  if (headers["sec-websocket-version"] !== "13") {
    throw new HandshakeError("the only version of WebSocket spoken here is 13 (Sec-WebSocket-Version)");
  }
  const key = headers["sec-websocket-key"] ?? "";
  if (!KEY.test(key)) throw new HandshakeError("Sec-WebSocket-Key must be 16 bytes in base64");
  return createHash("sha1").update(`${key}${GUID}`).digest("base64");
}

/** @param protocol the one chosen of those offered; empty: none */
export function switchingHead(accept: string, protocol: string): string {
  const chosen = protocol === "" ? "" : `Sec-WebSocket-Protocol: ${protocol}\r\n`;
  return (
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
    `Sec-WebSocket-Accept: ${accept}\r\n${chosen}\r\n`
  );
}
