// Keys of pods, and the proof of possession for the API server: a request (PKCS 10) that contains only the key. It is
// encoded here, because it has five fields: the X.509 library would cost the thread 16 MiB.

import { type KeyObject, generateKeyPair, sign } from "crypto";
import { promisify } from "util";
import type { MakePodKeyJob, MakePodKeyResult } from "../../../shared/contracts/tasks.js";

interface Pair {
  privateKey: KeyObject;
  publicKey: KeyObject;
}

interface KeyKind {
  make(): Promise<Pair>;
  /** The digest algorithm of the request's signature; undefined where the key's own scheme defines it. */
  digest: string | undefined;
  /** DER of the signature's AlgorithmIdentifier, hexadecimal. */
  algorithm: string;
}

const pair = promisify(generateKeyPair);
const RSA_SHA256 = "300d06092a864886f70d01010b0500";

// Each hash is as strong as its curve, as upstream's requests have it.
const KINDS: Readonly<Record<string, KeyKind>> = {
  ED25519: { make: () => pair("ed25519"), digest: undefined, algorithm: "300506032b6570" },
  ECDSAP256: { make: () => curve("P-256"), digest: "sha256", algorithm: "300a06082a8648ce3d040302" },
  ECDSAP384: { make: () => curve("P-384"), digest: "sha384", algorithm: "300a06082a8648ce3d040303" },
  ECDSAP521: { make: () => curve("P-521"), digest: "sha512", algorithm: "300a06082a8648ce3d040304" },
  RSA3072: { make: () => rsa(3072), digest: "sha256", algorithm: RSA_SHA256 },
  RSA4096: { make: () => rsa(4096), digest: "sha256", algorithm: RSA_SHA256 },
};

export async function makePodKey({ keyType }: MakePodKeyJob): Promise<MakePodKeyResult> {
  const kind = Object.hasOwn(KINDS, keyType) ? KINDS[keyType] : undefined;
  if (kind === undefined) return undefined;
  const { privateKey, publicKey } = await kind.make();
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    request: emptyRequest(kind, privateKey, publicKey).toString("base64"),
  };
}

const curve = (namedCurve: string): Promise<Pair> => pair("ec", { namedCurve });
const rsa = (modulusLength: number): Promise<Pair> => pair("rsa", { modulusLength });

/** RFC 2986: version 0, a subject without names, the key, no attributes; and the signature over these. */
function emptyRequest({ digest, algorithm }: KeyKind, privateKey: KeyObject, publicKey: KeyObject): Buffer {
  const [version, noNames, noAttributes] = ["020100", "3000", "a000"].map((hex) => Buffer.from(hex, "hex"));
  const info = der(0x30, version, noNames, publicKey.export({ type: "spki", format: "der" }), noAttributes);
  const signature = sign(digest, info, privateKey);
  return der(0x30, info, Buffer.from(algorithm, "hex"), der(0x03, Buffer.from([0]), signature));
}

/** Tag, length, value. */
function der(tag: number, ...parts: (Buffer | undefined)[]): Buffer {
  const body = Buffer.concat(parts.filter((part) => part !== undefined));
  const size = body.length < 0x80 ? [body.length] : body.length < 0x100 ? [0x81, body.length] : twoBytes(body.length);
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
}

/** Up to 64 KiB: a request of the longest key has not two. */
const twoBytes = (length: number): number[] => [0x82, length >> 8, length & 0xff];
