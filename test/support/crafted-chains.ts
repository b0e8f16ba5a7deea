// Certificate chains without a valid signature: their keys and signatures are random numbers. Only the first
// certificate has a real key, so that Node's client can show the chain.

import { generateKeyPairSync, randomBytes } from "node:crypto";

const ECDSA_SHA256 = "2a8648ce3d040302";
const RSA_SHA256 = "2a864886f70d01010b";
const RSA = "2a864886f70d010101";
const EC = "2a8648ce3d0201";
const NULL = Buffer.from([5, 0]);

export function element(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

export const sequence = (...parts: Buffer[]): Buffer => element(0x30, ...parts);
const oid = (hex: string): Buffer => element(6, Buffer.from(hex, "hex"));
const bits = (content: Buffer): Buffer => element(3, Buffer.from([0]), content);

/** An odd number of exactly so many bits. */
function numberOf(size: number): Buffer {
  const bytes = randomBytes(Math.ceil(size / 8));
  const top = (size - 1) % 8;
  bytes[0] = ((bytes[0] ?? 0) & ((1 << top) - 1)) | (1 << top);
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 1;
  return top === 7 ? element(2, Buffer.from([0]), bytes) : element(2, bytes);
}

function nameOf(text: string): Buffer {
  return sequence(element(0x31, sequence(oid("550403"), element(0x0c, Buffer.from(text)))));
}

/** SubjectPublicKeyInfo and the signatures that a certificate under this key has. */
export interface CraftedKey {
  spki: Buffer;
  algorithm: Buffer;
  signature: () => Buffer;
}

export function rsaKey(modulusBits: number, exponentBits: number): CraftedKey {
  const key = sequence(numberOf(modulusBits), numberOf(exponentBits));
  return {
    spki: sequence(sequence(oid(RSA), NULL), bits(key)),
    algorithm: sequence(oid(RSA_SHA256), NULL),
    // Smaller than the modulus.
    signature: () => Buffer.concat([Buffer.from([0]), randomBytes(modulusBits / 8 - 1)]),
  };
}

export function curveKey(namedCurve: string, bytes: number): CraftedKey {
  const { publicKey } = generateKeyPairSync("ec", { namedCurve });
  return {
    spki: publicKey.export({ type: "spki", format: "der" }),
    algorithm: sequence(oid(ECDSA_SHA256)),
    signature: () => sequence(numberOf(bytes * 8 - 16), numberOf(bytes * 8 - 16)),
  };
}

/** A key of a curve that is written out: its parameters are random. */
export function unnamedCurveKey(): CraftedKey {
  const field = sequence(oid("2a8648ce3d0101"), numberOf(256));
  const curve = sequence(element(4, randomBytes(32)), element(4, randomBytes(32)));
  const parameters = sequence(element(2, Buffer.from([1])), field, curve, element(4, randomBytes(65)), numberOf(256));
  return {
    spki: sequence(sequence(oid(EC), parameters), bits(Buffer.concat([Buffer.from([4]), randomBytes(64)]))),
    algorithm: sequence(oid(ECDSA_SHA256)),
    signature: () => sequence(numberOf(240), numberOf(240)),
  };
}

function certificate(index: number, spki: Buffer, issuer: CraftedKey): Buffer {
  const dates = sequence(element(0x17, Buffer.from("250101000000Z")), element(0x17, Buffer.from("450101000000Z")));
  const [issuedBy, subject] = [nameOf(`ca-${index + 1}`), nameOf(`ca-${index}`)];
  const version = element(0xa0, element(2, Buffer.from([2])));
  const serial = element(2, Buffer.from([1]));
  const signed = sequence(version, serial, issuer.algorithm, issuedBy, dates, subject, spki);
  return sequence(signed, issuer.algorithm, bits(issuer.signature()));
}

export interface CraftedChain {
  certificates: Buffer[];
  /** PEM, for Node's client. */
  cert: string;
  key: string;
}

/** The client's certificate, and so many CA certificates with this key. */
export function craftedChain(count: number, ca: CraftedKey): CraftedChain {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const own = publicKey.export({ type: "spki", format: "der" });
  const certificates = [
    certificate(0, own, ca),
    ...Array.from({ length: count }, (_, index) => certificate(index + 1, ca.spki, ca)),
  ];
  return {
    certificates,
    cert: certificates.map(pemOf).join(""),
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

function pemOf(der: Buffer): string {
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}
