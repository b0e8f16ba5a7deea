// The bytes of a pod's server: counted, bounded, and handled in turns. Parsers see only what passed here. Invariant:
// bytes beyond a limit never reach them, and no piece is handled once its pod is over its budget.

import type { Socket } from "node:net";
import { asError } from "../../shared/base/errors/thrown.js";
import { reset } from "../../shared/io/net/dial.js";
import type { PeerRun } from "./accounts.js";
import type { CpuTurns } from "./cpu-turns.js";

/** The server sent more than a client of it has to read. */
export class PeerLimitError extends Error {
  override readonly name = "PeerLimitError";
}

/**
 * All bytes of a connection: a head (MAX_HEAD_BYTES) and the part of the body that is read, with its framing or TLS
 * around it.
 */
export const CONNECTION_BYTES = 640 * 1024;
/** A parser is given no more at once, so that it can be stopped in between. */
const SLICE_BYTES = 4096;

export interface Guard {
  run: PeerRun;
  turns: CpuTurns;
}

/** Takes what passed. */
export interface Sink {
  /** Returns whether it takes more at once. */
  piece(piece: Buffer): boolean;
  end(): void;
  fail(error: Error): void;
}

export class GuardedSource {
  /** A piece waits for its turn. The connection is paused meanwhile: nothing overtakes the piece but the end. */
  private isWaiting = false;
  private hasEnded = false;
  private isClosed = false;
  private bytes = 0;
  private check: ((piece: Buffer) => void) | undefined;

  constructor(
    private readonly raw: Socket,
    private readonly guard: Guard,
    /** HTTP without TLS. */
    private readonly isPlain: boolean,
    private readonly sink: Sink,
  ) {
    raw.on("data", (piece: Buffer) => this.arrived(piece));
    raw.on("end", () => this.ended());
    raw.on("error", (error) => this.fail(error));
    raw.on("close", () => this.ended());
  }

  /** `check` throws PeerLimitError for a piece that must not be handled; absent, only CONNECTION_BYTES is a limit. */
  limit(check: ((piece: Buffer) => void) | undefined): void {
    this.check = check;
  }

  /** The sink takes more. */
  resume(): void {
    if (!this.isWaiting) this.raw.resume();
  }

  /** Ends the connection with a reset; the sink gets nothing more. */
  close(): void {
    this.isClosed = true;
    reset(this.raw);
  }

  private fail(error: Error): void {
    if (this.isClosed) return;
    this.close();
    this.sink.fail(error);
  }

  private arrived(piece: Buffer): void {
    if (this.isClosed) return;
    try {
      this.bytes += piece.length;
      if (this.bytes > CONNECTION_BYTES) {
        throw new PeerLimitError(`the server sent more than ${CONNECTION_BYTES} bytes`);
      }
      this.check?.(piece);
    } catch (error) {
      this.fail(asError(error));
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
    if (this.isClosed) return;
    try {
      this.guard.run.check();
    } catch (error) {
      this.fail(asError(error));
      return;
    }
    const wantsMore = this.pass(piece);
    if (wantsMore === undefined) return;
    if (this.hasEnded) this.sink.end();
    else if (wantsMore) this.raw.resume();
    else this.raw.pause();
  }

  /** Whether the sink takes more; undefined when it has closed the connection meanwhile. */
  private pass(piece: Buffer): boolean | undefined {
    let wantsMore = true;
    for (let at = 0; at < piece.length; at += SLICE_BYTES) {
      wantsMore = this.sink.piece(piece.length <= SLICE_BYTES ? piece : piece.subarray(at, at + SLICE_BYTES));
      if (this.isClosed) return undefined;
    }
    return wantsMore;
  }

  private ended(): void {
    if (this.hasEnded || this.isClosed) return;
    this.hasEnded = true;
    if (!this.isWaiting) this.sink.end();
  }
}
