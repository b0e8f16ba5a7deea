// Frames that we send.

import { FLAG, HEAD_BYTES, TYPE } from "./frame-types.js";

/** The first bytes of every client. */
export const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");

export const SETTINGS_ACK = frame(TYPE.SETTINGS, FLAG.ACK, 0, 0);

/** @param bytes of a payload that the caller writes, or sends behind the head */
function frame(type: number, flags: number, stream: number, bytes: number, payload = bytes): Buffer {
  const buffer = Buffer.allocUnsafe(HEAD_BYTES + bytes);
  buffer.writeUIntBE(payload, 0, 3);
  buffer.writeUInt8(type, 3);
  buffer.writeUInt8(flags, 4);
  buffer.writeUInt32BE(stream, 5);
  return buffer;
}

export function settingsFrame(settings: ReadonlyMap<number, number>): Buffer {
  const buffer = frame(TYPE.SETTINGS, 0, 0, settings.size * 6);
  let offset = HEAD_BYTES;
  for (const [name, value] of settings) {
    buffer.writeUInt16BE(name, offset);
    buffer.writeUInt32BE(value, offset + 2);
    offset += 6;
  }
  return buffer;
}

/** @param data the 8 bytes of the peer's PING */
export function pingAck(data: Buffer): Buffer {
  const buffer = frame(TYPE.PING, FLAG.ACK, 0, 8);
  data.copy(buffer, HEAD_BYTES);
  return buffer;
}

export function windowUpdate(stream: number, increment: number): Buffer {
  return withNumber(TYPE.WINDOW_UPDATE, stream, increment);
}

export function rstStream(stream: number, code: number): Buffer {
  return withNumber(TYPE.RST_STREAM, stream, code);
}

/** No stream of the peer was ever accepted. */
export function goAway(code: number): Buffer {
  const buffer = frame(TYPE.GOAWAY, 0, 0, 8);
  buffer.writeUInt32BE(0, HEAD_BYTES);
  buffer.writeUInt32BE(code, HEAD_BYTES + 4);
  return buffer;
}

function withNumber(type: number, stream: number, value: number): Buffer {
  const buffer = frame(type, 0, stream, 4);
  buffer.writeUInt32BE(value, HEAD_BYTES);
  return buffer;
}

/** The head of a DATA frame; its bytes follow. */
export function dataHead(stream: number, bytes: number, end: boolean): Buffer {
  return frame(TYPE.DATA, end ? FLAG.END_STREAM : 0, stream, 0, bytes);
}

/**
 * A block of fields in one HEADERS frame, and CONTINUATION frames if it is longer than a frame may be.
 * @param maxBytes of a frame's payload
 */
export function headersFrames(stream: number, block: Buffer, end: boolean, maxBytes: number): Buffer[] {
  const frames: Buffer[] = [];
  for (let offset = 0; offset === 0 || offset < block.length; offset += maxBytes) {
    const part = block.subarray(offset, offset + maxBytes);
    const isLast = offset + part.length >= block.length;
    const type = offset === 0 ? TYPE.HEADERS : TYPE.CONTINUATION;
    const flags = (isLast ? FLAG.END_HEADERS : 0) | (offset === 0 && end ? FLAG.END_STREAM : 0);
    frames.push(frame(type, flags, stream, 0, part.length), part);
  }
  return frames;
}
