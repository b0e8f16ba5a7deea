// Converts the kubelet's TLS fields to options of Node's TLS server.
// Invariant: sessions are never resumed, or a client certificate would count on after its end or its CA's.
import { constants, X509Certificate } from "node:crypto";
import { createSecureContext, type SecureContextOptions } from "node:tls";
import type { ServingTls } from "../../../shared/contracts/server.js";

export interface ServingPair {
  /** PEM, the chain after the certificate. */
  cert: string;
  key: string;
}

/** Go offers these with every value of tlsCipherSuites. */
const TLS13 = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"];
/** OpenSSL signs no TLS 1.0 and 1.1 handshake above this level. */
const OLD_VERSIONS = "@SECLEVEL=0";

/** @param clientCA PEM; undefined: client certificates are not requested */
export function contextOptions(tls: ServingTls, pair: ServingPair, clientCA: string | undefined): SecureContextOptions {
  const ciphers = cipherList(tls);
  return {
    cert: pair.cert,
    key: pair.key,
    minVersion: tls.minVersion,
    secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
    ...(clientCA === undefined ? {} : { ca: clientCA }),
    ...(ciphers === undefined ? {} : { ciphers, honorCipherOrder: true }),
    ...(tls.curves.length === 0 ? {} : { ecdhCurve: tls.curves.join(":") }),
  };
}

/** @throws Error when certificate and key don't belong together, or either is no PEM */
export function checkContext(options: SecureContextOptions): void {
  createSecureContext(options);
}

function cipherList({ ciphers, minVersion }: ServingTls): string | undefined {
  const old = minVersion === "TLSv1" || minVersion === "TLSv1.1";
  if (ciphers.length === 0) return old ? `DEFAULT${OLD_VERSIONS}:${TLS13.join(":")}` : undefined;
  const older = minVersion === "TLSv1.3" ? [] : ciphers.filter((name) => !TLS13.includes(name));
  const list = [...TLS13, ...older].join(":");
  return old ? `${list}:${OLD_VERSIONS}` : list;
}

// The CA certificates of clientCAFile, as OpenSSL takes them for trust anchors. They are read one by one: OpenSSL passes over
// what it cannot read in a bundle of CAs.
// Invariant: each certificate of the file is a trust anchor for client certificates, as in Go. This includes an
// intermediate CA whose issuer is not in the file. Other content of the file is none.

const BLOCK = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;
/**
 * The trust settings that follow a certificate in OpenSSL's TRUSTED CERTIFICATE. They are a sequence of a sequence of the object identifier
 * 1.3.6.1.5.5.7.3.2, TLS client authentication. OpenSSL ends a chain at such a certificate. Node 20 has no other way: its TLS servers drop
 * allowPartialTrustChain.
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
