// Jobs with certificates: validity and names of one, keys, certificate requests, self-signed certificates and those of
// an authority of this node. The X.509 library is loaded with the first such job only: it costs a thread 100 ms and
// 16 MiB.

import { createPrivateKey, X509Certificate } from "node:crypto";
import type {
  DescribeCertificateJob,
  DescribeCertificateResult,
  DescribedCertificate,
  IssueCertificatesJob,
  IssueCertificatesResult,
  MakeCertificateRequestJob,
  MakeCertificateRequestResult,
  MakeSelfSignedJob,
  MakeSelfSignedResult,
} from "../../../shared/contracts/tasks.js";

/** The leaf: the first certificate of the text. */
export function describeCertificate({ pem }: DescribeCertificateJob): DescribeCertificateResult {
  try {
    return described(new X509Certificate(pem), pem);
  } catch {
    return undefined;
  }
}

function described(certificate: X509Certificate, pem: string): DescribedCertificate {
  const subject = certificate.subject.split("\n");
  const names = (certificate.subjectAltName ?? "").split(", ");
  const of = (lines: readonly string[], prefix: string): string[] =>
    lines.filter((line) => line.startsWith(prefix)).map((line) => line.slice(prefix.length));
  return {
    notBefore: Date.parse(certificate.validFrom),
    notAfter: Date.parse(certificate.validTo),
    commonName: of(subject, "CN=")[0] ?? "",
    organizations: of(subject, "O="),
    dnsNames: of(names, "DNS:"),
    ips: of(names, "IP Address:"),
    hasKey: hasKeyOf(certificate, pem),
  };
}

/** Does the text hold the private key of this certificate, and not of another? */
function hasKeyOf(certificate: X509Certificate, pem: string): boolean {
  if (!pem.includes("PRIVATE KEY-----")) return false;
  try {
    return certificate.checkPrivateKey(createPrivateKey(pem));
  } catch {
    return false;
  }
}

/** @throws Error for a key that is none. */
export async function makeCertificateRequest(job: MakeCertificateRequestJob): Promise<MakeCertificateRequestResult> {
  return await (await import("./x509.js")).certificateRequest(job);
}

export async function makeSelfSigned(job: MakeSelfSignedJob): Promise<MakeSelfSignedResult> {
  return await (await import("./x509.js")).selfSigned(job);
}

/** @throws Error for an authority that cannot be read. */
export async function issueCertificates(job: IssueCertificatesJob): Promise<IssueCertificatesResult> {
  return await (await import("./x509.js")).issued(job);
}
