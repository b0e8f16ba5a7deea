// Faults of the peer's HTTP/2 (RFC 9113): one that ends the connection, and one that ends a stream.

/** Error codes of RST_STREAM and GOAWAY. */
export const CODE = {
  NO_ERROR: 0,
  PROTOCOL_ERROR: 1,
  INTERNAL_ERROR: 2,
  FLOW_CONTROL_ERROR: 3,
  FRAME_SIZE_ERROR: 6,
  REFUSED_STREAM: 7,
  CANCEL: 8,
  COMPRESSION_ERROR: 9,
  ENHANCE_YOUR_CALM: 11,
  INADEQUATE_SECURITY: 12,
} as const;

export type Code = (typeof CODE)[keyof typeof CODE];

/** The peer broke the protocol, or a limit of the connection. Nothing that it sends afterwards can be read. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  constructor(
    readonly code: Code,
    message: string,
  ) {
    super(message);
  }
}

/** The peer broke the protocol on one stream. The others go on. */
export class StreamError extends Error {
  override readonly name = "StreamError";
  constructor(
    readonly code: Code,
    message: string,
  ) {
    super(message);
  }
}
