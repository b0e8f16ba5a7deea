// One stream of a client's connection, as a stream of Node. For exec, attach and port-forward, SPDY streams and
// WebSocket channels look the same. Invariant: at most 64 KiB of a stream wait in each direction. While one is full,
// its connection is not read.

import { Duplex } from "node:stream";

const HIGH_WATER = 64 * 1024;

/** A client's connection, from the side of one of its streams. */
export interface Carrier {
  /** @param done when more may be written */
  send(id: number, part: Buffer, done: (error?: Error | null) => void): void;
  /** Ends our side of the stream. */
  finish(id: number, done: (error?: Error | null) => void): void;
  /** The stream was destroyed, by the client's reset too. @param isWhole both sides had ended it */
  released(id: number, isWhole: boolean): void;
  /** The connection is not read while any stream holds it. */
  hold(stream: object): void;
  unhold(stream: object): void;
}

export class ClientStream extends Duplex {
  constructor(
    private readonly carrier: Carrier,
    readonly id: number,
  ) {
    super({ allowHalfOpen: true, readableHighWaterMark: HIGH_WATER, writableHighWaterMark: HIGH_WATER });
    // What became of the stream shows in "close".
    this.on("error", () => undefined);
  }

  /** The client's data. */
  deliver(part: Buffer): void {
    if (this.destroyed || this.readableEnded) return;
    if (!this.push(part)) this.carrier.hold(this);
  }

  /** The client sends no more. */
  deliverEnd(): void {
    if (!this.destroyed) this.push(null);
  }

  override _read(): void {
    this.carrier.unhold(this);
  }

  override _write(part: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.carrier.send(this.id, part, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.carrier.finish(this.id, done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.carrier.unhold(this);
    this.carrier.released(this.id, this.readableEnded && this.writableFinished);
    done(error);
  }
}
