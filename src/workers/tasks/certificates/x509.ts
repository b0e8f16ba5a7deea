// Certificates by @peculiar/x509, keys by Node's Web Crypto.
// Invariant: keys are EC P-256 (TLS clients of every age take them); a subject's organizations come before its
// common name, as the API server's signers expect them.

import "reflect-metadata";
import { createHash, webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";
import type {
  CertificateSubject,
  IssueCertificatesJob,
  IssueCertificatesResult,
  MakeCertificateRequestJob,
  MakeCertificateRequestResult,
  MakeSelfSignedJob,
  MakeSelfSignedResult,
} from "../../../shared/contracts/tasks.js";

const CURVE = { name: "ECDSA", namedCurve: "P-256" } as const;
const SIGNATURE = { name: "ECDSA", hash: "SHA-256" } as const;
const USAGES = { server: "1.3.6.1.5.5.7.3.1", client: "1.3.6.1.5.5.7.3.2" } as const;

export async function certificateRequest(job: MakeCertificateRequestJob): Promise<MakeCertificateRequestResult> {
  const keys = job.key === undefined ? await newKeys() : await readKeys(job.key);
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: subjectName(job.subject),
    keys,
    signingAlgorithm: SIGNATURE,
    extensions: namesExtension(job.subject),
  });
  const publicKey = await webcrypto.subtle.exportKey("spki", keys.publicKey);
  return {
    key: job.key ?? (await keyPem(keys.privateKey)),
    request: pem(request.toString("pem")),
    keyDigest: createHash("sha256").update(Buffer.from(publicKey)).digest("hex"),
  };
}

export function selfSigned(job: MakeSelfSignedJob): Promise<MakeSelfSignedResult> {
  const { digitalSignature, keyCertSign } = x509.KeyUsageFlags;
  return authority(job, digitalSignature | keyCertSign, [
    new x509.ExtendedKeyUsageExtension([USAGES.server]),
    ...namesExtension(job.subject),
  ]);
}

export async function issued(job: IssueCertificatesJob): Promise<IssueCertificatesResult> {
  const { digitalSignature, keyCertSign, cRLSign, keyEncipherment } = x509.KeyUsageFlags;
  const issuer =
    job.authority.key === undefined
      ? await authority(job.authority, digitalSignature | keyCertSign | cRLSign)
      : job.authority;
  const signer = await readKeys(issuer.key);
  const { subjectName: issuerName } = new x509.X509Certificate(issuer.certificate);
  const all = job.wanted.map(async ({ subject, usage, notBefore, notAfter }) => {
    const keys = await newKeys();
    const certificate = await x509.X509CertificateGenerator.create({
      subject: subjectName(subject),
      issuer: issuerName,
      publicKey: keys.publicKey,
      signingKey: signer.privateKey,
      signingAlgorithm: SIGNATURE,
      notBefore: new Date(notBefore),
      notAfter: new Date(notAfter),
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(digitalSignature | keyEncipherment, true),
        new x509.ExtendedKeyUsageExtension([USAGES[usage]]),
        ...namesExtension(subject),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
        await x509.AuthorityKeyIdentifierExtension.create(signer.publicKey),
      ],
    });
    return await pairOf(certificate, keys);
  });
  return { authority: issuer, issued: await Promise.all(all) };
}

/** A certificate that is signed with its own key, and may sign others. */
async function authority(
  { subject, notBefore, notAfter }: MakeSelfSignedJob,
  usages: x509.KeyUsageFlags,
  extensions: readonly x509.Extension[] = [],
): Promise<MakeSelfSignedResult> {
  const keys = await newKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: subjectName(subject),
    keys,
    signingAlgorithm: SIGNATURE,
    notBefore: new Date(notBefore),
    notAfter: new Date(notAfter),
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(usages, true),
      ...extensions,
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return await pairOf(certificate, keys);
}

async function pairOf(
  certificate: x509.X509Certificate,
  { privateKey }: webcrypto.CryptoKeyPair,
): Promise<MakeSelfSignedResult> {
  return { certificate: pem(certificate.toString("pem")), key: await keyPem(privateKey) };
}

async function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return await webcrypto.subtle.generateKey(CURVE, true, ["sign", "verify"]);
}

async function readKeys(text: string): Promise<webcrypto.CryptoKeyPair> {
  const pkcs8 = x509.PemConverter.decodeFirst(text);
  const privateKey = await webcrypto.subtle.importKey("pkcs8", pkcs8, CURVE, true, ["sign"]);
  const jwk = await webcrypto.subtle.exportKey("jwk", privateKey);
  const { kty = "EC", crv = CURVE.namedCurve, x = "", y = "" } = jwk;
  const publicKey = await webcrypto.subtle.importKey("jwk", { kty, crv, x, y }, CURVE, true, ["verify"]);
  return { privateKey, publicKey };
}

async function keyPem(key: webcrypto.CryptoKey): Promise<string> {
  return pem(x509.PemConverter.encode(await webcrypto.subtle.exportKey("pkcs8", key), "PRIVATE KEY"));
}

function pem(text: string): string {
  return text.endsWith("\n") ? text : `${text}\n`;
}

function subjectName({ organizations = [], commonName }: CertificateSubject): x509.Name {
  return new x509.Name([...organizations.map((name) => ({ O: [name] })), { CN: [commonName] }]);
}

function namesExtension({ dnsNames = [], ips = [] }: CertificateSubject): x509.Extension[] {
  const names = [
    ...dnsNames.map((value) => ({ type: "dns" as const, value })),
    ...ips.map((value) => ({ type: "ip" as const, value })),
  ];
  return names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(names)];
}
