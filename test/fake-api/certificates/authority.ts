// A certificate authority in memory: EC P-256, certificates of any life, also of none. A certificate takes well below a
// millisecond. So tests make as many as they like, also expired ones and those of other authorities.

import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  type KeyObject,
} from "node:crypto";
import type { Clock } from "../../../src/shared/base/clock/clock.js";
import { bitString, context, decode, encode, integer, oid, sequence, TAG, time, toPem } from "./der.js";
import { alternativeNames, distinguishedName, EXTENSION, USAGE } from "./names.js";

const ECDSA_SHA256 = sequence(oid("1.2.840.10045.4.3.2"));
const YEAR_MS = 365 * 86_400_000;
/** Certificates begin in the past, for clocks that differ. */
const EARLIER_MS = 5 * 60_000;

export interface CertificatePair {
  /** PEM */
  cert: string;
  /** PEM, PKCS #8 */
  key: string;
}

export interface Validity {
  /** Milliseconds from now; may be negative. Default one year. */
  lifeMs?: number;
  /** Milliseconds from now, default five minutes ago. */
  fromMs?: number;
}

/** What a certificate is made for, in DER. */
export interface Subject {
  subject: Buffer;
  publicKey: Buffer;
  /** Value of the subjectAltName extension, when there is one. */
  altNames?: Buffer;
}

export type Usage = keyof typeof USAGE;

export class Authority {
  /** PEM */
  readonly ca: string;
  readonly #key: KeyObject;
  readonly #name: Buffer;
  readonly #keyId: Buffer;

  /** @param kept the pair of an earlier one with this name */
  constructor(
    private readonly clock: Clock,
    commonName = "kubernetes",
    kept?: CertificatePair,
  ) {
    this.#key =
      kept === undefined ? generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey : createPrivateKey(kept.key);
    this.#name = distinguishedName(commonName, []);
    const spki = createPublicKey(this.#key).export({ type: "spki", format: "der" });
    this.#keyId = keyIdOf(spki);
    this.ca =
      kept?.cert ??
      this.#issue({ subject: this.#name, publicKey: spki }, { lifeMs: 10 * YEAR_MS }, [
        critical(EXTENSION.basicConstraints, sequence(encode(TAG.boolean, Buffer.from([0xff])))),
        // digitalSignature, keyCertSign, cRLSign
        critical(EXTENSION.keyUsage, encode(TAG.bitString, Buffer.from([1, 0x86]))),
      ]);
  }

  /** PEM, PKCS #8. */
  get key(): string {
    return this.#key.export({ type: "pkcs8", format: "pem" }).toString();
  }

  clientCertificate(user: string, groups: readonly string[] = [], validity: Validity = {}): CertificatePair {
    return this.#pair(distinguishedName(user, groups), ["client"], undefined, validity);
  }

  servingCertificate(
    names: readonly string[],
    commonName = "kube-apiserver",
    validity: Validity = {},
  ): CertificatePair {
    return this.#pair(distinguishedName(commonName, []), ["server"], alternativeNames(names), validity);
  }

  /** Signs what a request asks for; PEM. */
  signRequest(request: Subject, usages: readonly Usage[], validity: Validity = {}): string {
    return this.#issue(request, validity, leafExtensions(usages, request.altNames));
  }

  #pair(subject: Buffer, usages: readonly Usage[], altNames: Buffer | undefined, validity: Validity): CertificatePair {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const spki = publicKey.export({ type: "spki", format: "der" });
    const cert = this.#issue({ subject, publicKey: spki }, validity, leafExtensions(usages, altNames));
    return { cert, key: privateKey.export({ type: "pkcs8", format: "pem" }).toString() };
  }

  #issue(
    { subject, publicKey }: Pick<Subject, "subject" | "publicKey">,
    { lifeMs = YEAR_MS, fromMs = -EARLIER_MS }: Validity,
    extensions: readonly Buffer[],
  ): string {
    const now = this.clock.now();
    const body = sequence(
      context(0, integer(Buffer.from([2]))),
      integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
      ECDSA_SHA256,
      this.#name,
      sequence(time(Math.min(now + fromMs, now + lifeMs - 1000)), time(now + lifeMs)),
      subject,
      publicKey,
      context(
        3,
        sequence(
          ...extensions,
          extension(EXTENSION.subjectKeyId, encode(TAG.octetString, keyIdOf(publicKey))),
          extension(EXTENSION.authorityKeyId, sequence(encode(0x80, this.#keyId))),
        ),
      ),
    );
    return toPem("CERTIFICATE", sequence(body, ECDSA_SHA256, bitString(sign("sha256", body, this.#key))));
  }
}

function leafExtensions(usages: readonly Usage[], altNames: Buffer | undefined): Buffer[] {
  return [
    critical(EXTENSION.basicConstraints, sequence()),
    // digitalSignature, keyEncipherment
    critical(EXTENSION.keyUsage, encode(TAG.bitString, Buffer.from([5, 0xa0]))),
    extension(EXTENSION.extendedKeyUsage, sequence(...usages.map((usage) => USAGE[usage]))),
    ...(altNames === undefined ? [] : [extension(EXTENSION.altName, altNames)]),
  ];
}

function extension(type: Buffer, value: Buffer): Buffer {
  return sequence(type, encode(TAG.octetString, value));
}

function critical(type: Buffer, value: Buffer): Buffer {
  return sequence(type, encode(TAG.boolean, Buffer.from([0xff])), encode(TAG.octetString, value));
}

/** The hash of the key's bits. */
function keyIdOf(spki: Buffer): Buffer {
  const [whole] = decode(spki);
  const bits = whole === undefined ? spki : decode(whole.body)[1]?.body;
  return createHash("sha1")
    .update(bits?.subarray(1) ?? spki)
    .digest();
}
