// The CA certificates of clientCAFile, as OpenSSL takes them for trust anchors. They are read one by one: OpenSSL
// passes over what it cannot read in a bundle of CAs.
// Invariant: each certificate of the file is a trust anchor for client certificates, as in Go. This includes an
// intermediate CA whose issuer is not in the file. Other content of the file is none.

import { X509Certificate } from "crypto";

const BLOCK = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/**
 * The trust settings that follow a certificate in OpenSSL's TRUSTED CERTIFICATE. They are a sequence of a sequence of
 * the object identifier 1.3.6.1.5.5.7.3.2, TLS client authentication. OpenSSL ends a chain at such a certificate. Node
 * 20 has no other way: its TLS servers drop allowPartialTrustChain.
 */
const TRUSTED_FOR_CLIENTS = Buffer.from("300c300a06082b06010505070302", "hex");

/**
 * @returns PEM
 * @throws Error when there is no certificate, or one that cannot be read
 */
export function clientTrustAnchors(pem: string): string {
  const blocks = pem.match(BLOCK) ?? [];
  if (blocks.length === 0) throw new Error("there is no certificate in PEM");
  return blocks.map((block, index) => trusted(block, `certificate ${index + 1} of ${blocks.length}`)).join("");
}

function trusted(block: string, what: string): string {
  try {
    const { raw } = new X509Certificate(block);
    const lines =
      Buffer.concat([raw, TRUSTED_FOR_CLIENTS])
        .toString("base64")
        .match(/.{1,64}/g) ?? [];
    return `-----BEGIN TRUSTED CERTIFICATE-----\n${lines.join("\n")}\n-----END TRUSTED CERTIFICATE-----\n`;
  } catch (cause) {
    throw new Error(`${what} cannot be read`, { cause });
  }
}
