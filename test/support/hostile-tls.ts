// What a hostile TLS server sends to a client, without having a key: random numbers stand for all that it would have to
// compute. Each value is the server's whole first flight of TLS 1.2, so it can be sent without reading the client's.

import { randomBytes } from "node:crypto";

const tagged = (tag: number, ...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  const size = body.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
};
const sequence = (...parts: readonly Buffer[]): Buffer => tagged(0x30, ...parts);
/** Positive: its first byte has the highest bit set, or it gets a zero before. */
const integer = (bytes: Buffer): Buffer =>
  tagged(0x02, (bytes[0] ?? 0) < 128 ? bytes : Buffer.concat([Buffer.from([0]), bytes]));
const bits = (bytes: Buffer): Buffer => tagged(0x03, Buffer.from([0]), bytes);
const RSA = sequence(Buffer.from("06092a864886f70d0101010500", "hex"));
const SHA256_RSA = sequence(Buffer.from("06092a864886f70d01010b0500", "hex"));
const time = (text: string): Buffer => tagged(0x17, Buffer.from(text));
const named = (name: string): Buffer =>
  sequence(tagged(0x31, sequence(Buffer.from("0603550403", "hex"), tagged(0x0c, Buffer.from(name)))));

/** A number of that many bits, odd, its highest byte given. */
function number(size: number, first: number): Buffer {
  const bytes = randomBytes(size / 8);
  bytes[0] = first;
  bytes[bytes.length - 1]! |= 1;
  return bytes;
}

/**
 * Without a valid signature: a check of the signature is one exponentiation with an exponent as long as the modulus.
 */
function certificate(subject: string, issuer: string, size: number): Buffer {
  const key = sequence(integer(number(size, 0xf1)), integer(number(size, 0x71)));
  const body = sequence(
    ...[tagged(0xa0, Buffer.from([2, 1, 2])), integer(number(64, 0x41)), SHA256_RSA, named(issuer)],
    ...[sequence(time("200101000000Z"), time("490101000000Z")), named(subject), sequence(RSA, bits(key))],
  );
  return sequence(body, SHA256_RSA, bits(number(size, 0x41)));
}

const withLength = (bytes: number, body: Buffer): Buffer => {
  const length = Buffer.alloc(bytes);
  length.writeUIntBE(body.length, 0, bytes);
  return Buffer.concat([length, body]);
};
const message = (type: number, body: Buffer): Buffer => Buffer.concat([Buffer.from([type]), withLength(3, body)]);

/** Handshake messages in records of TLS. */
function records(...messages: readonly Buffer[]): Buffer {
  const whole = Buffer.concat(messages);
  const pieces: Buffer[] = [];
  for (let at = 0; at < whole.length; at += 16_384) {
    pieces.push(Buffer.from([22, 3, 3]), withLength(2, whole.subarray(at, at + 16_384)));
  }
  return Buffer.concat(pieces);
}

/** With the extension renegotiation_info (RFC 5746), which OpenSSL insists on. */
function serverHello(suite: number): Buffer {
  const rest = [0, suite >> 8, suite & 255, 0, 0, 5, 0xff, 1, 0, 1, 0];
  return message(2, Buffer.concat([Buffer.from([3, 3]), randomBytes(32), Buffer.from(rest)]));
}

function certificates(count: number, size: number): Buffer {
  const chain = Array.from({ length: count }, (_, at) => certificate(`c${at}`, `c${at + 1}`, size));
  return message(11, withLength(3, Buffer.concat(chain.map((one) => withLength(3, one)))));
}

const ECDHE_RSA = 0xc02f;
const DHE_RSA = 0x9e;

/** `count` certificates; 72 of 3,072 bits hold a client that checks them for one to two seconds. */
export const chainFlight = (count: number, size = 3072): Buffer =>
  records(serverHello(ECDHE_RSA), certificates(count, size));

/** Finite-field Diffie-Hellman in a group of 10,000 bits. */
export function dheFlight(): Buffer {
  const size = 10_000;
  const group = [number(size, 0xf1), Buffer.from([2]), number(size, 0x71)];
  const signature = Buffer.concat([Buffer.from([4, 1]), withLength(2, randomBytes(384))]);
  const exchange = message(12, Buffer.concat([...group.map((one) => withLength(2, one)), signature]));
  return records(serverHello(DHE_RSA), certificates(1, 3072), exchange, message(14, Buffer.alloc(0)));
}

/** RFC 5246, 5288, 6655 and 7905: TLS_DHE_*. */
export const DHE_SUITES: readonly number[] = [
  ...[0x33, 0x39, 0x67, 0x6b, 0x9e, 0x9f, 0xa2, 0xa3, 0xaa, 0xc053, 0xc09e, 0xc09f, 0xc0a2, 0xc0a3, 0xccaa],
];

/** Cipher suites and groups that a client's first flight offers. */
export function offers(clientHello: Buffer): { suites: number[]; groups: number[] } {
  const numbers = (from: number, length: number): number[] =>
    Array.from({ length: length / 2 }, (_, index) => clientHello.readUInt16BE(from + 2 * index));
  // Record and message heads, version, random.
  let at = 5 + 4 + 2 + 32;
  at += 1 + clientHello.readUInt8(at);
  const suites = numbers(at + 2, clientHello.readUInt16BE(at));
  at += 2 + clientHello.readUInt16BE(at);
  at += 1 + clientHello.readUInt8(at);
  const end = at + 2 + clientHello.readUInt16BE(at);
  let groups: number[] = [];
  for (at += 2; at < end;) {
    const [type, length] = [clientHello.readUInt16BE(at), clientHello.readUInt16BE(at + 2)];
    if (type === 10) groups = numbers(at + 6, length - 2);
    at += 4 + length;
  }
  return { suites, groups };
}
