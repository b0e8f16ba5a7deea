// TLS of a client whose server is not trusted: one that a pod runs, or that a runtime names, or one that has not proved
// yet that it is the one that was asked for. Invariant: the client offers no finite-field Diffie-Hellman, whose group
// the server chooses (one handshake may then cost seconds), and agrees to no renegotiation.

import { constants } from "node:crypto";
import { createSecureContext, DEFAULT_CIPHERS, type SecureContext } from "node:tls";

/** Without the groups ffdhe2048 to ffdhe8192, which TLS 1.3 has. */
const GROUPS = "X25519:P-256:P-384:P-521";
/** Without finite-field Diffie-Hellman. */
const CIPHERS = `${DEFAULT_CIPHERS.split(":")
  .filter((name) => !name.startsWith("DHE-"))
  .join(":")}:!kDHE`;

let shared: SecureContext | undefined;
let named: string | undefined;

/** Options of a client that verifies its server: until it has, the server is not trusted either. */
export function verifyingClientTls(): { ciphers: string; ecdhCurve: string; secureOptions: number } {
  return { ciphers: CIPHERS, ecdhCurve: verifyingGroups(), secureOptions: constants.SSL_OP_NO_RENEGOTIATION };
}

/** With the hybrid group against quantum computers, where OpenSSL has it (3.5). */
function verifyingGroups(): string {
  if (named !== undefined) return named;
  const hybrid = `X25519MLKEM768:${GROUPS}`;
  try {
    createSecureContext({ ecdhCurve: hybrid });
    named = hybrid;
  } catch {
    named = GROUPS;
  }
  return named;
}

/** One for all connections: making one costs a millisecond. With an empty list of authorities none is looked up. */
export function untrustedServerContext(): SecureContext {
  return (shared ??= createSecureContext({
    ca: [],
    ciphers: CIPHERS,
    ecdhCurve: GROUPS,
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  }));
}
