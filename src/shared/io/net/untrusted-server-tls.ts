// TLS of a client whose server is not trusted: one that a pod runs, or that a runtime names. Invariant: the client
// offers no finite-field Diffie-Hellman, whose group the server chooses (one handshake may then cost seconds), and
// agrees to no renegotiation.

import { constants } from "node:crypto";
import { createSecureContext, DEFAULT_CIPHERS, type SecureContext } from "node:tls";

/** Without the groups ffdhe2048 to ffdhe8192, which TLS 1.3 has. */
const GROUPS = "X25519:P-256:P-384:P-521";
/** Without finite-field Diffie-Hellman. */
const CIPHERS = `${DEFAULT_CIPHERS.split(":")
  .filter((name) => !name.startsWith("DHE-"))
  .join(":")}:!kDHE`;

let shared: SecureContext | undefined;

/** One for all connections: making one costs a millisecond. With an empty list of authorities none is looked up. */
export function untrustedServerContext(): SecureContext {
  return (shared ??= createSecureContext({
    ca: [],
    ciphers: CIPHERS,
    ecdhCurve: GROUPS,
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  }));
}
