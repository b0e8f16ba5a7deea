// Certificates by @peculiar/x509, keys by Node's Web Crypto.
// Invariant: keys are EC P-256 (TLS clients of every age take them); a subject's organizations come before its
// common name, as the API server's signers expect them.

import "reflect-metadata";
import { createHash, webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";
import type {
  CertificateSubject,
  MakeCertificateRequestJob,
  MakeCertificateRequestResult,
  MakeSelfSignedJob,
  MakeSelfSignedResult,
} from "../../../shared/contracts/tasks.js";

const CURVE = { name: "ECDSA", namedCurve: "P-256" } as const;
const SIGNATURE = { name: "ECDSA", hash: "SHA-256" } as const;
const SERVER_AUTH = "1.3.6.1.5.5.7.3.1";

export async function certificateRequest(job: MakeCertificateRequestJob): Promise<MakeCertificateRequestResult> {
  const keys = job.key === undefined ? await newKeys() : await readKeys(job.key);
  const names = alternativeNames(job.subject);
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: subjectName(job.subject),
    keys,
    signingAlgorithm: SIGNATURE,
    extensions: names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(names)],
  });
  const publicKey = await webcrypto.subtle.exportKey("spki", keys.publicKey);
  return {
    key: job.key ?? (await keyPem(keys.privateKey)),
    request: pem(request.toString("pem")),
    keyDigest: createHash("sha256").update(Buffer.from(publicKey)).digest("hex"),
  };
}

export async function selfSigned({ subject, notBefore, notAfter }: MakeSelfSignedJob): Promise<MakeSelfSignedResult> {
  const keys = await newKeys();
  const names = alternativeNames(subject);
  const { digitalSignature, keyCertSign } = x509.KeyUsageFlags;
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: subjectName(subject),
    keys,
    signingAlgorithm: SIGNATURE,
    notBefore: new Date(notBefore),
    notAfter: new Date(notAfter),
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(digitalSignature | keyCertSign, true),
      new x509.ExtendedKeyUsageExtension([SERVER_AUTH]),
      ...(names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(names)]),
    ],
  });
  return { certificate: pem(certificate.toString("pem")), key: await keyPem(keys.privateKey) };
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

function alternativeNames({ dnsNames = [], ips = [] }: CertificateSubject): x509.JsonGeneralName[] {
  return [
    ...dnsNames.map((value) => ({ type: "dns" as const, value })),
    ...ips.map((value) => ({ type: "ip" as const, value })),
  ];
}
