// As much of DER as certificates and signing requests need: tag, length, value.

export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** One element; `raw` is all of it, `body` its value. */
export interface Element {
  tag: number;
  raw: Buffer;
  body: Buffer;
}

export function encode(tag: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag]), lengthOf(body.length), body]);
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const hex = length.toString(16);
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), "0"), "hex");
  return Buffer.concat([Buffer.from([0x80 | bytes.length]), bytes]);
}

export function sequence(...parts: readonly Buffer[]): Buffer {
  return encode(TAG.sequence, ...parts);
}

export function context(number: number, ...parts: readonly Buffer[]): Buffer {
  return encode(0xa0 | number, ...parts);
}

/** An unsigned integer: a leading zero keeps it positive. */
export function integer(bytes: Buffer): Buffer {
  return encode(TAG.integer, (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
}

export function bitString(bytes: Buffer): Buffer {
  return encode(TAG.bitString, Buffer.from([0]), bytes);
}

export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const bytes = [first * 40 + second];
  for (const part of rest) {
    const septets = [part & 0x7f];
    for (let left = part >>> 7; left > 0; left >>>= 7) septets.unshift((left & 0x7f) | 0x80);
    bytes.push(...septets);
  }
  return encode(TAG.oid, Buffer.from(bytes));
}

/** Two-digit years up to 2049, as X.509 wants it. */
export function time(ms: number): Buffer {
  const digits = `${new Date(ms).toISOString().replace(/[-:T]/g, "").slice(0, 14)}Z`;
  if (new Date(ms).getUTCFullYear() < 2050) return encode(TAG.utcTime, Buffer.from(digits.slice(2)));
  return encode(TAG.generalizedTime, Buffer.from(digits));
}

/** The elements in `bytes`. Throws a RangeError if an element is truncated. */
export function decode(bytes: Buffer): Element[] {
  const elements: Element[] = [];
  let at = 0;
  while (at < bytes.length) {
    const tag = bytes.readUInt8(at);
    let length = bytes.readUInt8(at + 1);
    let start = at + 2;
    if (length >= 0x80) {
      const count = length & 0x7f;
      length = bytes.readUIntBE(start, count);
      start += count;
    }
    if (start + length > bytes.length) throw new RangeError(`DER element at ${at} is cut off`);
    elements.push({ tag, raw: bytes.subarray(at, start + length), body: bytes.subarray(start, start + length) });
    at = start + length;
  }
  return elements;
}

export function toPem(label: string, der: Buffer): string {
  const lines = der.toString("base64").replace(/(.{64})(?=.)/g, "$1\n");
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}

/** The bytes of a block. @internal */
export function fromPem(label: string, pem: string): Buffer {
  const match = new RegExp(`-----BEGIN ${label}-----([^-]+)-----END ${label}-----`).exec(pem);
  if (match?.[1] === undefined) throw new RangeError(`PEM block type must be ${label}`);
  return Buffer.from(match[1], "base64");
}
