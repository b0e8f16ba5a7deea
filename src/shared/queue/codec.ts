// Record codecs: a value to bytes and back. Hand-written codecs use BinaryWriter and BinaryReader and keep to one rule:
// the reader asks for the same fields in the same order, and anything odd is a DecodeError, never a wrong value.
import { DecodeError } from "./errors.js";

/** Turns one type of record into bytes and back. `decode` must keep no reference to `bytes`: they are reused. */
export interface Codec<T> {
  encode(value: T): Uint8Array;
  decode(bytes: Uint8Array): T;
}

const MAX_U64 = (1n << 64n) - 1n;
/** Up to this many characters a loop over ASCII beats the UTF-8 encoder's call. */
const SHORT_STRING = 64;

/** Appends fields to a growing buffer. One writer can serve many records: `reset()` starts the next one. */
export class BinaryWriter {
  private buffer: Buffer;
  private at = 0;

  constructor(initialBytes = 256) {
    this.buffer = Buffer.allocUnsafe(Math.max(16, initialBytes));
  }

  reset(): this {
    this.at = 0;
    return this;
  }

  /** One byte, 0 to 255: a tag, an enum, a flag set. */
  u8(value: number): this {
    if (!Number.isInteger(value) || value < 0 || value > 255) throw new RangeError(`${value} is not a byte`);
    this.room(1);
    this.buffer[this.at++] = value;
    return this;
  }

  bool(value: boolean): this {
    return this.u8(value ? 1 : 0);
  }

  /** Unsigned whole number up to 2^53 - 1, seven bits per byte. */
  varint(value: number): this {
    if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${value} is not an unsigned safe integer`);
    this.room(8);
    let rest = value;
    while (rest >= 0x80) {
      this.buffer[this.at++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.buffer[this.at++] = rest;
    return this;
  }

  /** Signed whole number of at most 52 bits: exit codes, deltas. */
  zigzag(value: number): this {
    if (!Number.isSafeInteger(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER / 2 - 1)
      throw new RangeError(`${value} is not a signed integer of 52 bits`);
    return this.varint(value >= 0 ? value * 2 : -value * 2 - 1);
  }

  /** Unsigned 64-bit number. */
  u64(value: bigint): this {
    if (value < 0n || value > MAX_U64) throw new RangeError(`${value.toString()} is not an unsigned 64-bit number`);
    this.room(8);
    this.at = this.buffer.writeBigUInt64LE(value, this.at);
    return this;
  }

  /** Signed 64-bit number: nanoseconds since the epoch. */
  i64(value: bigint): this {
    this.room(8);
    this.at = this.buffer.writeBigInt64LE(value, this.at);
    return this;
  }

  f64(value: number): this {
    this.room(8);
    this.at = this.buffer.writeDoubleLE(value, this.at);
    return this;
  }

  /** UTF-8 with its byte length in front. */
  string(value: string): this {
    const length = value.length;
    if (length <= SHORT_STRING && this.shortAscii(value, length)) return this;
    const bytes = Buffer.byteLength(value, "utf8");
    this.varint(bytes);
    this.room(bytes);
    this.at += this.buffer.write(value, this.at, "utf8");
    return this;
  }

  /** Bytes with their length in front. */
  bytes(value: Uint8Array): this {
    this.varint(value.length);
    this.room(value.length);
    this.buffer.set(value, this.at);
    this.at += value.length;
    return this;
  }

  /** A field that may be absent: a presence byte, then the field. */
  optional<V>(value: V | undefined, write: (writer: this, value: V) => void): this {
    this.bool(value !== undefined);
    if (value !== undefined) write(this, value);
    return this;
  }

  /** A list: its length, then each item. */
  list<V>(values: readonly V[], write: (writer: this, value: V) => void): this {
    this.varint(values.length);
    for (const value of values) write(this, value);
    return this;
  }

  /** A copy of the record written so far. */
  finish(): Uint8Array {
    return new Uint8Array(this.buffer.subarray(0, this.at));
  }

  private shortAscii(value: string, length: number): boolean {
    this.room(length + 1);
    const { buffer } = this;
    const start = this.at + 1;
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i);
      if (code >= 0x80) return false;
      buffer[start + i] = code;
    }
    buffer[this.at] = length;
    this.at = start + length;
    return true;
  }

  private room(bytes: number): void {
    if (this.at + bytes <= this.buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.buffer.length * 2, this.at + bytes));
    grown.set(this.buffer.subarray(0, this.at));
    this.buffer = grown;
  }
}

/** Takes fields off a record in the order they were written. Every method throws DecodeError past the end. */
export class BinaryReader {
  private readonly buffer: Buffer;
  private at = 0;

  constructor(bytes: Uint8Array) {
    this.buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  u8(): number {
    const value = this.buffer[this.at];
    if (value === undefined) throw this.truncated("a byte");
    this.at++;
    return value;
  }

  bool(): boolean {
    const value = this.u8();
    if (value > 1) throw new DecodeError(`${value} at byte ${this.at - 1} is not a boolean`);
    return value === 1;
  }

  varint(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = this.u8();
      value += (byte & 0x7f) * scale;
      if (value > Number.MAX_SAFE_INTEGER) throw new DecodeError(`number before byte ${this.at} exceeds 2^53`);
      if (byte < 0x80) return value;
      scale *= 0x80;
      if (scale > Number.MAX_SAFE_INTEGER) throw new DecodeError(`number before byte ${this.at} never ends`);
    }
  }

  zigzag(): number {
    const value = this.varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  u64(): bigint {
    return this.buffer.readBigUInt64LE(this.take(8, "a 64-bit number"));
  }

  i64(): bigint {
    return this.buffer.readBigInt64LE(this.take(8, "a 64-bit number"));
  }

  f64(): number {
    return this.buffer.readDoubleLE(this.take(8, "a float"));
  }

  string(): string {
    const length = this.varint();
    const start = this.take(length, "a string");
    return this.buffer.toString("utf8", start, start + length);
  }

  /** A copy: the record's own memory is reused. */
  bytes(): Uint8Array {
    const length = this.varint();
    const start = this.take(length, "bytes");
    return new Uint8Array(this.buffer.subarray(start, start + length));
  }

  optional<V>(read: (reader: this) => V): V | undefined {
    return this.bool() ? read(this) : undefined;
  }

  list<V>(read: (reader: this) => V): V[] {
    const length = this.varint();
    // Every item takes at least a byte: a longer list is garbage, and must not make us allocate.
    if (length > this.buffer.length - this.at) throw this.truncated(`${length} items`);
    return Array.from({ length }, () => read(this));
  }

  /** Call last: bytes left over mean that writer and reader disagree. */
  end(): void {
    const left = this.buffer.length - this.at;
    if (left !== 0) throw new DecodeError(`${left} bytes left over after the last field`);
  }

  private take(bytes: number, what: string): number {
    const start = this.at;
    if (bytes > this.buffer.length - start) throw this.truncated(what);
    this.at = start + bytes;
    return start;
  }

  private truncated(what: string): DecodeError {
    return new DecodeError(`${what} expected at byte ${this.at} of ${this.buffer.length}`);
  }
}

/** Any JSON value as a record: for rare records, where a hand-written layout would not pay. */
export function jsonCodec<T>(parse: (value: unknown) => T): Codec<T> {
  return {
    encode: (value) => Buffer.from(JSON.stringify(value), "utf8"),
    decode: (bytes) => {
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
      try {
        return parse(JSON.parse(text));
      } catch (error) {
        throw new DecodeError(`JSON of ${bytes.length} bytes: ${error instanceof Error ? error.message : String(error)}`);
      }
    },
  };
}
