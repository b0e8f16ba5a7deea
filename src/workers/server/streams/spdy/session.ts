// The client's side of a SPDY/3.1 connection, as much of it as the runtimes' streaming servers speak.
// Their SPDY has no flow control: they neither send WINDOW_UPDATE nor heed it, and a client that waited for it would stop
// after 64 KiB. So none is done here: a slow side holds TCP back, of the connection as a whole.
// Invariant: each stream ends once, in order with its data; nothing is written to a stream after its end.
import { FLAG_FIN, KIND, MAX_LENGTH, RST, dataHead, ping, rstStream, synStream } from "./frames.js";
import { SpdyError, SpdyFrameReader } from "./frame-reader.js";

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

function word(payload: Buffer, at: number): number {
  if (payload.length < at + 4) throw new SpdyError(`a control frame of ${payload.length} bytes, which is too short`);
  return payload.readUInt32BE(at);
}

function streamOf(payload: Buffer): number {
  return word(payload, 0) & 0x7fff_ffff;
}

// The headers of a SPDY stream: names and values with their lengths, in the connection's one zlib stream. Nothing is
// compressed: they are a few dozen bytes once per stream, and deflate's stored blocks need neither the dictionary nor a
// compressor for the whole connection. Headers of the peer are never read: the kubelet needs none.

/** zlib's head for a stream with a preset dictionary, and the Adler-32 of that of SPDY/3. */
const ZLIB_HEAD = Buffer.of(0x78, 0xbb, 0xe3, 0xc6, 0xa7, 0xc2);
/** An empty stored block: zlib's sync flush, where the reader of a block stops. */
const SYNC = Buffer.of(0, 0, 0, 0xff, 0xff);
const MAX_STORED = 0xffff;

/**
 * @param headers names in lower case
 * @param first whether the connection has carried none before
 */
function headerBlock(headers: Readonly<Record<string, string>>, first: boolean): Buffer {
  const pairs = Object.entries(headers);
  const plain = Buffer.concat([
    length(pairs.length),
    ...pairs.flatMap(([name, value]) => [text(name.toLowerCase()), text(value)]),
  ]);
  if (plain.length > MAX_STORED) throw new RangeError(`${plain.length} bytes of headers are more than one block holds`);
  const stored = Buffer.alloc(5);
  stored.writeUInt16LE(plain.length, 1);
  stored.writeUInt16LE(plain.length ^ 0xffff, 3);
  return Buffer.concat([...(first ? [ZLIB_HEAD] : []), stored, plain, SYNC]);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, "utf8");
  return Buffer.concat([length(bytes.length), bytes]);
}

function length(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32BE(value);
  return buffer;
}
