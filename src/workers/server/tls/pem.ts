// Certificates in PEM, looked at one by one: OpenSSL passes over what it cannot read in a bundle of CAs.
import { X509Certificate } from "node:crypto";

const BLOCK = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/** @throws Error when there is none, or one that cannot be read */
export function checkCertificates(pem: string): void {
  const blocks = pem.match(BLOCK) ?? [];
  if (blocks.length === 0) throw new Error("there is no certificate in PEM");
  for (const [index, block] of blocks.entries()) {
    try {
      new X509Certificate(block);
    } catch (cause) {
      throw new Error(`certificate ${index + 1} of ${blocks.length} cannot be read`, { cause });
    }
  }
}
