// Close codes of a WebSocket's close frame (RFC 6455, section 7.4.1).

export const CLOSE_CODE = { NORMAL: 1000, PROTOCOL_ERROR: 1002, UNSUPPORTED: 1003 } as const;

/** The client's messages violate the subprotocol; the connection closes with PROTOCOL_ERROR. */
export class WebSocketError extends Error {
  override readonly name = "WebSocketError";
}
