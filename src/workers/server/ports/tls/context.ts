// Converts the kubelet's TLS fields to options of Node's TLS server.
// Invariant: sessions are never resumed, or a client certificate would count on after its end or its CA's.

import { constants } from "node:crypto";
import { createSecureContext, type SecureContextOptions } from "node:tls";
import type { ServingTls } from "../../../../shared/contracts/server.js";

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
    ca: clientCA,
    ciphers,
    honorCipherOrder: ciphers === undefined ? undefined : true,
    ecdhCurve: tls.curves.length === 0 ? undefined : tls.curves.join(":"),
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
