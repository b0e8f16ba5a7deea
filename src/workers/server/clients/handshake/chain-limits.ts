// Limits for the certificate chain of a client, which are checked before OpenSSL verifies a signature of it. OpenSSL
// verifies each one, also in a chain that leads to no CA of the node. Some keys cost 5 to 30 ms per signature.
// Invariant: the chains that Go's crypto/tls accepts pass, up to the number and size below.

import { messageOf } from "../../../../shared/base/errors/thrown.js";
import { DerReader, TAG } from "./der.js";

const CHAIN_LIMITS = {
  /** The client's certificate, three intermediate CAs and the root. */
  certificates: 5,
  /** Bytes of all certificates together: chains have 1 to 6 KiB. */
  bytes: 16 * 1024,
  /** Go's limit, too (CVE-2023-29409). */
  rsaBits: 8192,
  /** Go's limit, too. Nearly all keys have 65537. */
  exponentBits: 31,
} as const;

const RSA = "2a864886f70d010101";
const ELLIPTIC = "2a8648ce3d0201";
const ED25519 = "2b6570";
/** P-224, P-256, P-384, P-521: those of Go. */
const CURVES = new Set(["2b81040021", "2a8648ce3d030107", "2b81040022", "2b81040023"]);

/** @returns why OpenSSL must not verify this chain; undefined: its cost is bounded */
export function chainProblem(chain: readonly Buffer[]): string | undefined {
  if (chain.length > CHAIN_LIMITS.certificates) {
    return `it has ${chain.length} certificates, and ${CHAIN_LIMITS.certificates} are allowed`;
  }
  const bytes = chain.reduce((sum, certificate) => sum + certificate.length, 0);
  if (bytes > CHAIN_LIMITS.bytes) return `it has ${bytes} bytes, and ${CHAIN_LIMITS.bytes} are allowed`;
  for (const [index, certificate] of chain.entries()) {
    const problem = certificateProblem(certificate);
    if (problem !== undefined) return `certificate ${index + 1}: ${problem}`;
  }
  return undefined;
}

function certificateProblem(certificate: Buffer): string | undefined {
  try {
    return keyProblem(keyOf(certificate));
  } catch (error) {
    return `it cannot be read: ${messageOf(error)}`;
  }
}

/** The content of SubjectPublicKeyInfo (RFC 5280, 4.1). */
function keyOf(certificate: Buffer): DerReader {
  const whole = new DerReader(certificate);
  const outer = new DerReader(whole.read(TAG.sequence));
  if (!whole.isAtEnd) throw new Error("bytes follow it");
  const signed = new DerReader(outer.read(TAG.sequence));
  if (signed.tag === TAG.version) signed.read(TAG.version);
  signed.read(TAG.integer);
  // Signature algorithm, issuer, validity, subject.
  for (let i = 0; i < 4; i++) signed.read(TAG.sequence);
  return new DerReader(signed.read(TAG.sequence));
}

function keyProblem(key: DerReader): string | undefined {
  const algorithm = new DerReader(key.read(TAG.sequence));
  const kind = algorithm.read(TAG.oid).toString("hex");
  switch (kind) {
    case RSA:
      return rsaProblem(key.read(TAG.bits));
    case ELLIPTIC:
      // Parameters in place of a name make a curve of any cost.
      if (algorithm.tag !== TAG.oid) return "its curve has no name";
      return CURVES.has(algorithm.read(TAG.oid).toString("hex")) ? undefined : "its curve is not supported";
    case ED25519:
      return undefined;
    default:
      return "its kind of key is not supported";
  }
}

function rsaProblem(bits: Buffer): string | undefined {
  // The first byte is the number of unused bits.
  const whole = new DerReader(bits.subarray(1));
  const numbers = new DerReader(whole.read(TAG.sequence));
  const modulus = bitsOf(numbers.read(TAG.integer));
  const exponent = bitsOf(numbers.read(TAG.integer));
  const { rsaBits, exponentBits } = CHAIN_LIMITS;
  if (modulus > rsaBits) return `its RSA key has ${modulus} bits, and ${rsaBits} are allowed`;
  if (exponent > exponentBits) return `its RSA exponent has ${exponent} bits, and ${exponentBits} are allowed`;
  return undefined;
}

/** OpenSSL takes the number for one without a sign. */
function bitsOf(number: Buffer): number {
  const first = number.findIndex((byte) => byte !== 0);
  if (first < 0) return 0;
  return (number.length - first) * 8 - Math.clz32(number[first] ?? 0) + 24;
}
