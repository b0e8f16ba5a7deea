// The bytes that TLS decrypted, as the stream below an HTTP/2 session. A session would read a TLS socket past
// JavaScript.
// Invariant: the session sees only bytes that `check` has passed.

import { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import { asError } from "../../shared/base/errors/thrown.js";

export class FramedStream extends Duplex {
  /** `check` throws for a piece that the session must not see. */
  constructor(
    private readonly socket: TLSSocket,
    private readonly check: (piece: Buffer) => void,
  ) {
    super({ allowHalfOpen: true });
    socket.on("data", (piece: Buffer) => this.arrived(piece));
    // The session notices the end of its connection only by "close".
    socket.on("end", () => this.destroy());
    socket.on("close", () => this.destroy());
  }

  override _read(): void {
    this.socket.resume();
  }

  override _write(piece: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.socket.write(piece, done);
  }

  override _final(done: () => void): void {
    // The connection ends with a reset, after the response.
    done();
  }

  private arrived(piece: Buffer): void {
    if (this.destroyed) return;
    try {
      this.check(piece);
    } catch (error) {
      this.destroy(asError(error));
      return;
    }
    if (!this.push(piece)) this.socket.pause();
  }
}
