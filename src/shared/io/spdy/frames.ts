// SPDY/3.1 frames as they are written. A control frame: version and kind, flags and length, fields; a frame of data:
// its stream, flags and length, bytes. All numbers are big-endian.

/** The peer does not speak SPDY/3.1. */
export class SpdyError extends Error {
  override readonly name = "SpdyError";
}

export const KIND = {
  SYN_STREAM: 1,
  SYN_REPLY: 2,
  RST_STREAM: 3,
  SETTINGS: 4,
  PING: 6,
  GOAWAY: 7,
  HEADERS: 8,
  WINDOW_UPDATE: 9,
} as const;
export const VERSION = 3;
/** The sender sends no more on the stream. */
export const FLAG_FIN = 1;
export const RST = { PROTOCOL_ERROR: 1, REFUSED_STREAM: 3, CANCEL: 5 } as const;
export const FRAME_HEAD = 8;
/** The largest 24-bit length. */
export const MAX_LENGTH = 0xff_ffff;

/** @param block the stream's headers, compressed */
export function synStream(stream: number, block: Buffer): Buffer {
  const fields = Buffer.alloc(10);
  fields.writeUInt32BE(stream, 0);
  return control(KIND.SYN_STREAM, Buffer.concat([fields, block]));
}

/** Confirms a stream. @param block the reply's headers, compressed */
export function synReply(stream: number, block: Buffer): Buffer {
  return control(KIND.SYN_REPLY, Buffer.concat([words(stream), block]));
}

/** Announces the end of the connection. @param last the peer's last stream that was served */
export function goAway(last: number): Buffer {
  return control(KIND.GOAWAY, words(last, 0));
}

export function rstStream(stream: number, status: number): Buffer {
  return control(KIND.RST_STREAM, words(stream, status));
}

export function ping(id: number): Buffer {
  return control(KIND.PING, words(id));
}

/** The header of a data frame with `length` bytes. */
export function dataHead(stream: number, length: number, flags = 0): Buffer {
  return words(stream, flags * 2 ** 24 + length);
}

function control(kind: number, payload: Buffer): Buffer {
  return Buffer.concat([words((0x8000 + VERSION) * 2 ** 16 + kind, payload.length), payload]);
}

function words(...values: readonly number[]): Buffer {
  const buffer = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) buffer.writeUInt32BE(value, 4 * index);
  return buffer;
}

/** A 32-bit field of a control frame. @throws SpdyError if the frame is too short */
export function word(payload: Buffer, at: number): number {
  if (payload.length < at + 4) throw new SpdyError(`a control frame of ${payload.length} bytes, which is too short`);
  return payload.readUInt32BE(at);
}

/** The stream that a control frame names first. @throws SpdyError */
export function streamOf(payload: Buffer): number {
  return word(payload, 0) & 0x7fff_ffff;
}
