// The bytes of a server that is not verified yet. OpenSSL checks every signature of a certificate chain, also of one
// that leads to no authority: 100 KB of crafted certificates hold the thread for a second (docs/adr/0140).
// Invariant: before the handshake is complete OpenSSL gets no more bytes than the limit; after that, all.

import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { connect, type ConnectionOptions, type TLSSocket } from "node:tls";

/** Three certificates of 4,096 bits with a hundred names are 10 KiB, the names of two hundred authorities 20 KiB. */
export const MAX_HANDSHAKE_BYTES = 32 * 1024;

/** The server sent more than a handshake has. */
class HandshakeTooLongError extends Error {
  override readonly name = "HandshakeTooLongError";
  constructor() {
    super(`tls: the server sent more than ${MAX_HANDSHAKE_BYTES} bytes before the end of the handshake`);
  }
}

/** TLS over the connection. Until the handshake is complete, its bytes are limited. */
export function limitedTls(raw: Socket, options: ConnectionOptions): TLSSocket {
  const limited = new HandshakeLimit(raw);
  const socket = connect({ ...options, socket: limited });
  socket.once("secureConnect", () => limited.unlimited());
  // A wrapped stream's error ends the TLS socket without its reason.
  limited.on("error", (error) => socket.destroy(error));
  return socket;
}

/** A connection as TLS reads it. */
class HandshakeLimit extends Duplex {
  private left = MAX_HANDSHAKE_BYTES;
  private hasEnded = false;

  constructor(private readonly raw: Socket) {
    super({ allowHalfOpen: false });
    raw.on("data", (piece: Buffer) => this.arrived(piece));
    raw.on("end", () => this.ended());
    raw.on("close", () => this.ended());
    raw.on("error", (error) => this.destroy(error));
  }

  /** The handshake is complete: the server is the one that was asked for. */
  unlimited(): void {
    this.left = Infinity;
  }

  override _read(): void {
    this.raw.resume();
  }

  override _write(piece: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.raw.write(piece, done);
  }

  override _final(done: () => void): void {
    this.raw.end();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.raw.destroy();
    done(error);
  }

  private arrived(piece: Buffer): void {
    this.left -= piece.length;
    if (this.destroyed) return;
    if (this.left < 0) this.destroy(new HandshakeTooLongError());
    else if (!this.push(piece)) this.raw.pause();
  }

  private ended(): void {
    if (this.hasEnded || this.destroyed) return;
    this.hasEnded = true;
    this.push(null);
  }
}
