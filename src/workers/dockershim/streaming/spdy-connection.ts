// The server's side of a SPDY/3.1 connection. As in other runtimes there is no flow control of streams (docs/adr/0036):
// a slow one holds TCP back.
// Invariant: streams end with their connection; a client has at most 256 of them at once.

import type { Duplex } from "node:stream";
import { SpdyFrameReader } from "../../../shared/io/spdy/frame-reader.js";
import {
  dataHead,
  FLAG_FIN,
  goAway,
  KIND,
  ping,
  RST,
  rstStream,
  SpdyError,
  streamOf,
  synReply,
  word,
} from "../../../shared/io/spdy/frames.js";
import { headerBlock } from "../../../shared/io/spdy/header-block.js";
import { SpdyHeaderReader } from "../../../shared/io/spdy/header-reader.js";
import { ClientStream, type Carrier } from "./client-stream.js";

const MAX_STREAMS = 256;
/** Fields of SYN_STREAM and of HEADERS before their headers. */
const SYN_FIELDS = 10;
const HEADERS_FIELDS = 4;

/** A new stream of the client. False: it is refused. */
export type OnStream = (stream: ClientStream, headers: ReadonlyMap<string, string>) => boolean;

export class SpdyConnection implements Carrier {
  private readonly streams = new Map<number, ClientStream>();
  private readonly holding = new Set<object>();
  private readonly headers = new SpdyHeaderReader();
  private readonly reader = new SpdyFrameReader({
    onData: (id, part, fin) => this.onData(id, part, fin),
    onControl: (kind, flags, payload) => this.onControl(kind, flags, payload),
  });
  /** The newest stream of the client. */
  private last = 0;
  private hasReplied = false;

  constructor(
    private readonly socket: Duplex,
    private readonly onStream: OnStream,
  ) {}

  /** @param head what came with the request's last bytes */
  start(head: Buffer): void {
    const { socket } = this;
    const leave = (): void => {
      for (const stream of this.streams.values()) stream.destroy();
    };
    socket
      .on("data", (chunk: Buffer) => this.read(chunk))
      .once("end", leave)
      .once("close", leave);
    if (head.length > 0) this.read(head);
  }

  /** All that was written reaches the client; then the connection ends. */
  close(): void {
    let left = this.streams.size + 1;
    const finished = (): void => {
      left--;
      if (left > 0 || !this.socket.writable) return;
      this.socket.end(goAway(this.last));
    };
    for (const stream of this.streams.values()) {
      if (stream.writableFinished || stream.destroyed) finished();
      else stream.once("finish", finished).once("close", () => (stream.writableFinished ? undefined : finished()));
      stream.end();
      stream.resume();
    }
    finished();
  }

  send(id: number, part: Buffer, done: (error?: Error | null) => void): void {
    this.socket.cork();
    this.socket.write(dataHead(id, part.length));
    this.socket.write(part, done);
    this.socket.uncork();
  }

  finish(id: number, done: (error?: Error | null) => void): void {
    this.socket.write(dataHead(id, 0, FLAG_FIN), done);
  }

  released(id: number, isWhole: boolean): void {
    if (this.streams.delete(id) && !isWhole) this.reply(rstStream(id, RST.CANCEL));
  }

  hold(stream: object): void {
    this.holding.add(stream);
    this.socket.pause();
  }

  unhold(stream: object): void {
    if (this.holding.delete(stream) && this.holding.size === 0) this.socket.resume();
  }

  private read(chunk: Buffer): void {
    try {
      this.reader.push(chunk);
    } catch (error) {
      if (!(error instanceof SpdyError)) throw error;
      this.socket.destroy();
    }
  }

  private onData(id: number, part: Buffer, fin: boolean): void {
    if (id > this.last) throw new SpdyError(`a frame of stream ${id}, which was never opened`);
    const stream = this.streams.get(id);
    if (part.length > 0) stream?.deliver(part);
    if (fin) stream?.deliverEnd();
  }

  private onControl(kind: number, flags: number, payload: Buffer): void {
    switch (kind) {
      case KIND.SYN_STREAM:
        this.open(streamOf(payload), this.headers.read(payload.subarray(SYN_FIELDS)), (flags & FLAG_FIN) !== 0);
        return;
      case KIND.HEADERS:
        this.headers.read(payload.subarray(HEADERS_FIELDS));
        if ((flags & FLAG_FIN) !== 0) this.streams.get(streamOf(payload))?.deliverEnd();
        return;
      case KIND.RST_STREAM: {
        const id = streamOf(payload);
        const stream = this.streams.get(id);
        // No reset answers a reset.
        this.streams.delete(id);
        stream?.destroy();
        return;
      }
      case KIND.PING:
        // Clients' are odd; even ones would be replies to ours, and there are none.
        if (word(payload, 0) % 2 === 1) this.reply(ping(word(payload, 0)));
        return;
      default:
      // SETTINGS and WINDOW_UPDATE are about flow control; a client that goes away ends the connection, too.
    }
  }

  private open(id: number, headers: ReadonlyMap<string, string>, fin: boolean): void {
    if (id % 2 === 0 || id <= this.last) throw new SpdyError(`a stream of number ${id} after ${this.last}`);
    this.last = id;
    if (this.streams.size >= MAX_STREAMS) {
      this.reply(rstStream(id, RST.REFUSED_STREAM));
      return;
    }
    const stream = new ClientStream(this, id);
    this.streams.set(id, stream);
    this.reply(synReply(id, headerBlock({}, !this.hasReplied)));
    this.hasReplied = true;
    if (!this.onStream(stream, headers)) stream.destroy();
    else if (fin) stream.deliverEnd();
  }

  /** A client that reads no replies has so many of them waiting at most. */
  private reply(frame: Buffer): void {
    if (!this.socket.writable) return;
    if (this.socket.writableLength > MAX_WAITING_REPLIES) this.socket.destroy();
    else this.socket.write(frame);
  }
}

const MAX_WAITING_REPLIES = 32 * 1024 * 1024;
