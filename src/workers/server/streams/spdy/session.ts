// The client's side of a SPDY/3.1 connection, as much of it as the runtimes' streaming servers speak. Their SPDY has
// no flow control: they neither send WINDOW_UPDATE nor obey it. A client that waited for it would stop after 64 KiB.
// So none is done here: a slow side holds TCP back, of the connection as a whole.
// Invariant: each stream ends once, in order with its data; nothing is written to a stream after its end.

import { SpdyFrameReader } from "../../../../shared/io/spdy/frame-reader.js";
import {
  SpdyError,
  FLAG_FIN,
  KIND,
  MAX_LENGTH,
  RST,
  dataHead,
  ping,
  rstStream,
  streamOf,
  synStream,
  word,
} from "../../../../shared/io/spdy/frames.js";
import { headerBlock } from "../../../../shared/io/spdy/header-block.js";

export interface SpdyEvents {
  onData(stream: number, part: Buffer): void;
  /** The peer ended the stream. @param reset the status of its reset, if it was reset */
  onEnd(stream: number, reset?: number): void;
  /** The peer has sent all its data and is about to close the connection. */
  onGoAway(): void;
}

/** Output of frames; a part of a socket's interface. */
export interface SpdyOut {
  readonly writable: boolean;
  readonly writableNeedDrain: boolean;
  cork(): void;
  uncork(): void;
  write(part: Buffer): boolean;
}

interface Sides {
  /** The peer still speaks. */
  theirs: boolean;
  ours: boolean;
}

export class SpdySession {
  private readonly reader: SpdyFrameReader;
  private readonly streams = new Map<number, Sides>();
  /** Clients' are odd. */
  private next = 1;

  constructor(
    private readonly out: SpdyOut,
    private readonly events: SpdyEvents,
  ) {
    this.reader = new SpdyFrameReader({
      onData: (stream, part, fin) => this.onData(stream, part, fin),
      onControl: (kind, flags, payload) => this.onControl(kind, flags, payload),
    });
  }

  /** Handles bytes of the peer. @throws SpdyError: the connection must end */
  push(chunk: Buffer): void {
    this.reader.push(chunk);
  }

  /** Opens a stream, on which may be written at once. @returns its id */
  open(headers: Readonly<Record<string, string>>): number {
    const stream = this.next;
    this.next += 2;
    this.streams.set(stream, { theirs: true, ours: true });
    this.out.write(synStream(stream, headerBlock(headers, stream === 1)));
    return stream;
  }

  /** False: that is enough until the connection has drained. */
  write(stream: number, data: Buffer): boolean {
    if (this.streams.get(stream)?.ours !== true || !this.out.writable) return true;
    if (data.length > MAX_LENGTH) throw new RangeError(`${data.length} bytes are more than a frame holds`);
    this.out.cork();
    this.out.write(dataHead(stream, data.length));
    this.out.write(data);
    this.out.uncork();
    return !this.out.writableNeedDrain;
  }

  /** Ends this side of the stream. */
  end(stream: number): void {
    const sides = this.streams.get(stream);
    if (sides?.ours !== true) return;
    sides.ours = false;
    if (this.out.writable) this.out.write(dataHead(stream, 0, FLAG_FIN));
  }

  private onData(stream: number, part: Buffer, fin: boolean): void {
    const sides = this.known(stream);
    if (!sides.theirs) return;
    if (part.length > 0) this.events.onData(stream, part);
    if (fin) this.endTheirs(stream, sides);
  }

  private onControl(kind: number, flags: number, payload: Buffer): void {
    switch (kind) {
      case KIND.SYN_STREAM:
        this.send(rstStream(streamOf(payload), RST.REFUSED_STREAM));
        return;
      case KIND.SYN_REPLY:
      case KIND.HEADERS: {
        const stream = streamOf(payload);
        if ((flags & FLAG_FIN) !== 0) this.endTheirs(stream, this.known(stream));
        return;
      }
      case KIND.RST_STREAM: {
        const stream = streamOf(payload);
        const sides = this.known(stream);
        sides.ours = false;
        this.endTheirs(stream, sides, word(payload, 4));
        return;
      }
      case KIND.PING:
        // The server's stream numbers are even; odd ones would be replies to streams of ours, and there are none.
        if (word(payload, 0) % 2 === 0) this.send(ping(word(payload, 0)));
        return;
      case KIND.GOAWAY:
        this.events.onGoAway();
        return;
      default:
      // SETTINGS and WINDOW_UPDATE are about flow control; of others nothing is known.
    }
  }

  private endTheirs(stream: number, sides: Sides, reset?: number): void {
    if (!sides.theirs) return;
    sides.theirs = false;
    this.events.onEnd(stream, reset);
  }

  private known(stream: number): Sides {
    const sides = this.streams.get(stream);
    if (sides === undefined) throw new SpdyError(`a frame of stream ${stream}, which was never opened`);
    return sides;
  }

  /** A reply; a peer that reads nothing gets none. */
  private send(frame: Buffer): void {
    if (this.out.writable && !this.out.writableNeedDrain) this.out.write(frame);
  }
}
