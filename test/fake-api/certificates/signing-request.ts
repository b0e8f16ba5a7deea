// Reads PKCS #10 signing requests: whom for, which key, which names; and checks that the sender holds the key.
import { createPublicKey, verify } from "node:crypto";
import { decode, fromPem, type Element } from "./der.js";
import { NAMES } from "./names.js";

export interface SigningRequest {
  /** DER, to be copied into the certificate. */
  subject: Buffer;
  publicKey: Buffer;
  /** DER of the subjectAltName extension's value, when there is one. */
  altNames?: Buffer;
  commonName: string;
  organizations: string[];
}

const EXTENSION_REQUEST = "2a864886f70d01090e";
const ALT_NAME = "551d11";

/** Throws a RangeError for what is no valid request. */
export function readSigningRequest(pem: string): SigningRequest {
  const [whole] = decode(fromPem("CERTIFICATE REQUEST", pem));
  const [info, , signature] = decode(bodyOf(whole));
  const [, subject, publicKey, attributes] = decode(bodyOf(info));
  if (info === undefined || subject === undefined || publicKey === undefined || signature === undefined) {
    throw new RangeError("the certificate request has not all of its parts");
  }
  const key = createPublicKey({ key: publicKey.raw, format: "der", type: "spki" });
  if (!verify("sha256", info.raw, key, signature.body.subarray(1))) {
    throw new RangeError("the certificate request is not signed with its key (ECDSA or RSA with SHA-256)");
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
