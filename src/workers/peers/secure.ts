// TLS to a pod's server: no certificate is trusted, none is needed. Invariant: the client offers no finite-field
// Diffie-Hellman, whose group the server chooses (one handshake may then cost seconds), agrees to no renegotiation, and
// reads a bounded certificate chain.

import { isIP } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import { untrustedServerContext } from "../../shared/io/net/untrusted-server-tls.js";
import { PeerLimitError } from "./guarded-source.js";
import type { GuardedStream } from "./guarded-stream.js";

/**
 * Bytes of a server before its handshake is complete. Three certificates of 4,096 bits with a hundred names are 10 KiB.
 * OpenSSL checks all signatures of a chain before it reports the first wrong one: 32 KiB of the costliest certificates
 * take 0.2 s.
 */
const HANDSHAKE_BYTES = 32 * 1024;
/** What the client speaks over TLS, for ALPN (RFC 7301). Upstream's kubelet reads the variable, too. */
const protocols = (): { ALPNProtocols?: string[] } =>
  (process.env["DISABLE_HTTP2"] ?? "") === "" ? { ALPNProtocols: ["h2", "http/1.1"] } : {};

/** The server responded to the handshake in another protocol, with Go's text for it. */
export class NotTlsError extends Error {
  override readonly name = "NotTlsError";
  constructor(
    /** The response was one of HTTP. */
    readonly isHttp: boolean,
    options: ErrorOptions,
  ) {
    const text = "tls: first record does not look like a TLS handshake";
    super(isHttp ? "http: server gave HTTP response to HTTPS client" : text, options);
  }
}

/** Kinds of records: alert and handshake. A server that speaks TLS begins with one of them. */
const FIRST_BYTES = [0x15, 0x16];

export interface SecureStream {
  socket: TLSSocket;
  /** The cause of an error of the socket, in the words of Go's client. */
  explain: (error: Error) => Error;
}

export function secure(stream: GuardedStream, host: string): SecureStream {
  let read = 0;
  let start = "";
  stream.sendAtOnce();
  stream.limit((piece) => {
    read += piece.length;
    if (start.length < 5) start += piece.toString("latin1", 0, 5 - start.length);
    if (read > HANDSHAKE_BYTES) {
      throw new PeerLimitError(
        `tls: the server sent more than ${HANDSHAKE_BYTES} bytes before the end of the handshake`,
      );
    }
  });
  const socket: TLSSocket = connect({
    socket: stream,
    secureContext: untrustedServerContext(),
    rejectUnauthorized: false,
    ...protocols(),
    servername: isIP(host) === 0 ? host : undefined,
  });
  let isSecure = false;
  socket.once("secureConnect", () => {
    isSecure = true;
    stream.limit(undefined);
  });
  const explain = (error: Error): Error =>
    isSecure || start === "" || FIRST_BYTES.includes(start.charCodeAt(0)) || error instanceof PeerLimitError
      ? error
      : new NotTlsError(start === "HTTP/", { cause: error });
  // A wrapped stream's error ends the TLS socket without its reason.
  stream.once("error", (error) => socket.destroy(error));
  return { socket, explain };
}
