// The bytes of a pod's server on their way to TLS or HTTP/2: counted, bounded, and handled in turns. Node and OpenSSL see only what passed
// here. Invariant: bytes beyond a limit never reach them, and no piece is handled once its pod is over its budget.
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { asError } from "../../shared/errors/thrown.js";
import { reset } from "../../shared/net/dial.js";
import type { PeerRun } from "./accounts.js";
import type { CpuTurns } from "./cpu-turns.js";

/** The server sent more than a client of it has to read. */
export class PeerLimitError extends Error {
  override readonly name = "PeerLimitError";
}

/** All bytes of a connection: headers, five informational responses and the part of the body that is read. */
const CONNECTION_BYTES = 512 * 1024;
/** A parser is given no more at once, so that it can be stopped in between. */
const SLICE_BYTES = 4096;

export interface Guard {
  run: PeerRun;
  turns: CpuTurns;
}

export class GuardedStream extends Duplex {
  /** A piece waits for its turn. The connection is paused meanwhile: nothing overtakes the piece but the end. */
  private isWaiting = false;
  private hasEnded = false;
  private bytes = 0;
  private check: ((piece: Buffer) => void) | undefined;

  constructor(
    private readonly raw: Socket,
    private readonly guard: Guard,
    /** HTTP without TLS. */
    private readonly isPlain: boolean,
  ) {
    super({ allowHalfOpen: true });
    raw.on("data", (piece: Buffer) => this.arrived(piece));
    raw.on("end", () => this.ended());
    raw.on("error", (error) => this.destroy(error));
    raw.on("close", () => {
      if (!this.isWaiting) this.destroy();
    });
  }

  /** For protocols that write several small pieces: none waits for the acknowledgement of the one before. */
  sendAtOnce(): void {
    this.raw.setNoDelay(true);
  }

  /** `check` throws PeerLimitError for a piece that must not be handled; absent, only CONNECTION_BYTES is a limit. */
  limit(check: ((piece: Buffer) => void) | undefined): void {
    this.check = check;
  }

  override _read(): void {
    if (!this.isWaiting) this.raw.resume();
  }

  override _write(piece: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.raw.write(piece, done);
  }

  override _final(done: () => void): void {
    // The connection ends with a reset, after the response.
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    reset(this.raw);
    done(error);
  }

  private arrived(piece: Buffer): void {
    try {
      this.bytes += piece.length;
      if (this.bytes > CONNECTION_BYTES) {
        throw new PeerLimitError(`the server sent more than ${CONNECTION_BYTES} bytes`);
      }
      this.check?.(piece);
    } catch (error) {
      this.destroy(asError(error));
      return;
    }
    // A short response without TLS, that is most of them, costs less than it costs to measure it.
    if (this.isPlain && this.bytes <= SLICE_BYTES && !this.isWaiting) {
      this.handle(piece);
      return;
    }
    this.isWaiting = !this.guard.turns.take(this.guard.run, () => this.handle(piece));
    if (this.isWaiting) this.raw.pause();
  }

  private handle(piece: Buffer): void {
    this.isWaiting = false;
    if (this.destroyed) return;
    try {
      this.guard.run.check();
    } catch (error) {
      this.destroy(asError(error));
      return;
    }
    const wantsMore = this.pushSlices(piece);
    if (wantsMore === undefined) return;
    if (this.hasEnded) this.push(null);
    else if (this.raw.destroyed) this.destroy();
    else if (wantsMore) this.raw.resume();
    else this.raw.pause();
  }

  /** Whether the reader takes more; undefined when it has destroyed the stream meanwhile. */
  private pushSlices(piece: Buffer): boolean | undefined {
    if (piece.length <= SLICE_BYTES) return this.push(piece);
    let wantsMore = true;
    for (let at = 0; at < piece.length; at += SLICE_BYTES) {
      wantsMore = this.push(piece.subarray(at, at + SLICE_BYTES));
      if (this.destroyed) return undefined;
    }
    return wantsMore;
  }

  private ended(): void {
    this.hasEnded = true;
    if (!this.isWaiting) this.push(null);
  }
}
