// Reads protobuf's wire format: varints, lengths and text, each inside the bounds of its message.
// https://protobuf.dev/programming-guides/encoding/
// Invariant: nothing is read beyond the end that the caller names; what does not fit is a ProtobufDecodeError.

import { type HeldInteger, nearestSafe } from "../wide-integers.js";

/** The bytes are no message of the expected form. */
export class ProtobufDecodeError extends Error {
  override readonly name = "ProtobufDecodeError";
}

export const VARINT = 0;
const FIXED64 = 1;
export const DELIMITED = 2;
const FIXED32 = 5;

/** A varint has ten bytes at most. */
const LONGEST = 10;
/** Shorter texts are read faster here than by a call of the decoder. */
const SHORT_TEXT = 16;

export class Reader {
  pos = 0;
  /** The last number beyond 2^53. */
  wide: bigint | undefined;
  /** Integers whose digits are kept. */
  readonly held: HeldInteger[] = [];

  constructor(readonly bytes: Buffer) {}

  /** An integer of 64 bits with its sign; beyond 2^53 the nearest number that JSON writes exactly. */
  varint(end: number): number {
    const { bytes } = this;
    let value = 0;
    let scale = 1;
    for (let count = 0; count < 7; count++) {
      if (this.pos >= end) throw new ProtobufDecodeError("a number is cut off");
      const byte = bytes[this.pos++] ?? 0;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
    }
    return this.longVarint(BigInt(value), end);
  }

  /** A key of a field, or a length: 32 bits. */
  uint32(end: number): number {
    const value = this.varint(end);
    if (value < 0 || value > 0xffffffff) throw new ProtobufDecodeError("a length or a field's number is too large");
    return value;
  }

  /** Reads a length. @returns where the value ends */
  delimited(end: number): number {
    const stop = this.uint32(end) + this.pos;
    if (stop > end) throw new ProtobufDecodeError("a value is longer than its message");
    return stop;
  }

  text(end: number): string {
    const { bytes, pos } = this;
    this.pos = end;
    if (end - pos > SHORT_TEXT) return bytes.toString("utf8", pos, end);
    let text = "";
    for (let at = pos; at < end; at++) {
      const character = ASCII[bytes[at] ?? 0];
      if (character === undefined) return bytes.toString("utf8", pos, end);
      text += character;
    }
    return text;
  }

  /** Passes over the value of a field with this key. */
  skip(key: number, end: number): void {
    switch (key & 7) {
      case VARINT:
        this.varint(end);
        return;
      case DELIMITED:
        this.pos = this.delimited(end);
        return;
      case FIXED64:
      case FIXED32:
        this.pos += (key & 7) === FIXED64 ? 8 : 4;
        if (this.pos > end) throw new ProtobufDecodeError("a number is cut off");
        return;
      default:
        throw new ProtobufDecodeError(`a field has the unknown wire type ${key & 7}`);
    }
  }

  /** Keeps the digits of a number that was just read, if they are not those of `read`. */
  hold(holder: object, key: string | number, read: number): void {
    if (Math.abs(read) !== Number.MAX_SAFE_INTEGER || this.wide === undefined) return;
    this.held.push({ holder, key, digits: String(this.wide) });
    this.wide = undefined;
  }

  private longVarint(low: bigint, end: number): number {
    let value = low;
    for (let count = 7; count < LONGEST; count++) {
      if (this.pos >= end) throw new ProtobufDecodeError("a number is cut off");
      const byte = this.bytes[this.pos++] ?? 0;
      value += BigInt(byte & 0x7f) << BigInt(7 * count);
      if (byte < 0x80) return this.nearest(BigInt.asIntN(64, value));
    }
    throw new ProtobufDecodeError("a number has more than ten bytes");
  }

  private nearest(value: bigint): number {
    const number = nearestSafe(Number(value));
    this.wide = BigInt(number) === value ? undefined : value;
    return number;
  }
}

const ASCII: readonly string[] = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code));
