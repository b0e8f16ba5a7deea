// Reads PKCS #10 signing requests (subject, key, names, and the proof that the sender holds the key), and makes them
// for tests.

import { createPublicKey, generateKeyPairSync, sign, verify } from "node:crypto";
import type { Subject } from "./authority.js";
import {
  bitString,
  context,
  decode,
  encode,
  fromPem,
  integer,
  oid,
  sequence,
  TAG,
  toPem,
  type Element,
} from "./der.js";
import { alternativeNames, distinguishedName, EXTENSION, NAMES } from "./names.js";

export interface SigningRequest extends Subject {
  commonName: string;
  organizations: string[];
}

const EXTENSION_REQUEST = "2a864886f70d01090e";
const ALT_NAME = "551d11";
/** By signature algorithm. */
const DIGESTS: Readonly<Record<string, { name: string | undefined }>> = {
  "2b6570": { name: undefined },
  "2a8648ce3d040302": { name: "sha256" },
  "2a8648ce3d040303": { name: "sha384" },
  "2a8648ce3d040304": { name: "sha512" },
  "2a864886f70d01010b": { name: "sha256" },
};

/** Throws a RangeError if the request is invalid. */
export function readSigningRequest(pem: string): SigningRequest {
  return readSigningRequestDer(fromPem("CERTIFICATE REQUEST", pem));
}

/** As readSigningRequest. */
export function readSigningRequestDer(der: Buffer): SigningRequest {
  const [whole] = decode(der);
  const [info, algorithm, signature] = decode(bodyOf(whole));
  const [, subject, publicKey, attributes] = decode(bodyOf(info));
  if (info === undefined || subject === undefined || publicKey === undefined || signature === undefined) {
    throw new RangeError("the certificate request has not all of its parts");
  }
  const key = createPublicKey({ key: publicKey.raw, format: "der", type: "spki" });
  const digest = DIGESTS[decode(bodyOf(algorithm))[0]?.body.toString("hex") ?? ""];
  if (digest === undefined || !verify(digest.name, info.raw, key, signature.body.subarray(1))) {
    throw new RangeError("the certificate request is not signed with its key (ECDSA, RSA or Ed25519)");
  }
  const altNames = altNamesOf(attributes);
  return {
    subject: subject.raw,
    publicKey: publicKey.raw,
    ...(altNames === undefined ? {} : { altNames }),
    commonName: valuesOf(subject, NAMES.commonName)[0] ?? "",
    organizations: valuesOf(subject, NAMES.organization),
  };
}

function bodyOf(element: Element | undefined): Buffer {
  if (element === undefined) throw new RangeError("the certificate request is empty");
  return element.body;
}

/** A name is a sequence of sets of (type, value) pairs. */
function valuesOf(name: Element, type: string): string[] {
  return decode(name.body)
    .flatMap((set) => decode(set.body))
    .map((pair) => decode(pair.body))
    .filter(([key]) => key?.body.toString("hex") === type)
    .map(([, value]) => value?.body.toString("utf8") ?? "");
}

function altNamesOf(attributes: Element | undefined): Buffer | undefined {
  if (attributes === undefined) return undefined;
  for (const attribute of decode(attributes.body)) {
    const [type, values] = decode(attribute.body);
    if (type?.body.toString("hex") !== EXTENSION_REQUEST || values === undefined) continue;
    for (const extension of decode(values.body).flatMap((all) => decode(all.body))) {
      const parts = decode(extension.body);
      if (parts[0]?.body.toString("hex") === ALT_NAME) return parts.at(-1)?.body;
    }
  }
  return undefined;
}

/** A request with a new key; all of it PEM. */
export function makeSigningRequest(
  commonName: string,
  organizations: readonly string[],
  names: readonly string[] = [],
): { request: string; key: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const altNames = sequence(EXTENSION.altName, encode(TAG.octetString, alternativeNames(names)));
  const attribute = sequence(
    encode(TAG.oid, Buffer.from(EXTENSION_REQUEST, "hex")),
    encode(TAG.set, sequence(altNames)),
  );
  const info = sequence(
    integer(Buffer.from([0])),
    distinguishedName(commonName, organizations),
    publicKey.export({ type: "spki", format: "der" }),
    context(0, ...(names.length === 0 ? [] : [attribute])),
  );
  const der = sequence(info, sequence(oid("1.2.840.10045.4.3.2")), bitString(sign("sha256", info, privateKey)));
  return {
    request: toPem("CERTIFICATE REQUEST", der),
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}
