// TLS to a pod's server: no certificate is trusted, none is needed. Invariant: the client offers no finite-field Diffie-Hellman, whose
// group the server chooses (one handshake may then cost seconds), agrees to no renegotiation, and reads a bounded certificate chain.
import { constants } from "node:crypto";
import { isIP } from "node:net";
import { connect, createSecureContext, DEFAULT_CIPHERS, type SecureContext, type TLSSocket } from "node:tls";
import { PeerLimitError, type GuardedStream } from "./guarded-stream.js";

/**
 * Bytes of a server before its handshake is complete. Three certificates of 4,096 bits with a hundred names are 10 KiB. OpenSSL checks all
 * signatures of a chain before it reports the first wrong one: 32 KiB of the costliest certificates take 0.2 s.
 */
export const HANDSHAKE_BYTES = 32 * 1024;
/** Without the groups ffdhe2048 to ffdhe8192, which TLS 1.3 has. */
export const GROUPS = "X25519:P-256:P-384:P-521";
/** Without finite-field Diffie-Hellman. */
export const CIPHERS = `${DEFAULT_CIPHERS.split(":")
  .filter((name) => !name.startsWith("DHE-"))
  .join(":")}:!kDHE`;

let shared: SecureContext | undefined;

/** One for all connections: making one costs a millisecond. With an empty list of authorities none is looked up. */
function context(): SecureContext {
  return (shared ??= createSecureContext({
    ca: [],
    ciphers: CIPHERS,
    ecdhCurve: GROUPS,
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  }));
}

export function secure(stream: GuardedStream, host: string): TLSSocket {
  let read = 0;
  stream.sendAtOnce();
  stream.limit(({ length }) => {
    read += length;
    if (read > HANDSHAKE_BYTES) {
      throw new PeerLimitError(
        `tls: the server sent more than ${HANDSHAKE_BYTES} bytes before the end of the handshake`,
      );
    }
  });
  const socket = connect({
    socket: stream,
    secureContext: context(),
    rejectUnauthorized: false,
    ...(isIP(host) === 0 && { servername: host }),
  });
  socket.once("secureConnect", () => stream.limit(undefined));
  // A wrapped stream's error ends the TLS socket without its reason.
  stream.once("error", (error) => socket.destroy(error));
  return socket;
}
