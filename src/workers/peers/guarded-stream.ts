// A guarded source as a stream, for TLS and HTTP/2, which read streams.

import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { GuardedSource, type Guard } from "./guarded-source.js";

export class GuardedStream extends Duplex {
  private readonly source: GuardedSource;

  constructor(
    private readonly raw: Socket,
    guard: Guard,
  ) {
    super({ allowHalfOpen: true });
    this.source = new GuardedSource(raw, guard, false, {
      piece: (piece) => this.push(piece),
      end: () => this.push(null),
      fail: (error) => this.destroy(error),
    });
  }

  /** For protocols that write several small pieces: none waits for the acknowledgement of the one before. */
  sendAtOnce(): void {
    this.raw.setNoDelay(true);
  }

  /** `check` throws PeerLimitError for a piece that must not be handled. */
  limit(check: ((piece: Buffer) => void) | undefined): void {
    this.source.limit(check);
  }

  override _read(): void {
    this.source.resume();
  }

  override _write(piece: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.raw.write(piece, done);
  }

  override _final(done: () => void): void {
    // The connection ends with a reset, after the response.
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.source.close();
    done(error);
  }
}
