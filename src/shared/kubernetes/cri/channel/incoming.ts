// What the peer sends on a connection, frame by frame.
// Invariant: a frame that brings no call further is counted (idle-frames.ts); every other one is bounded by a window or
// by the number of calls.

import { BlockReader, type Block } from "./block-reader.js";
import { FrameReader } from "./frames/frame-reader.js";
import { FLAG, TYPE, type Frame } from "./frames/frame-types.js";
import { CODE, ConnectionError, StreamError, type Code } from "./frames/http2-errors.js";
import { pingAck, SETTINGS_ACK } from "./frames/write-frames.js";
import { HpackDecoder } from "./hpack/decoder.js";
import type { Http2Stream } from "./http2-stream.js";
import type { IncomingHost } from "./incoming-host.js";
import { withoutPadding } from "./padding.js";

export class Incoming {
  readonly #connection: IncomingHost;
  readonly #frames = new FrameReader((frame) => this.#onFrame(frame));
  readonly #blocks = new BlockReader();
  readonly #hpack = new HpackDecoder();

  constructor(connection: IncomingHost) {
    this.#connection = connection;
  }

  /** @throws ConnectionError */
  push(bytes: Buffer): void {
    if (!this.#connection.isReady && bytes.toString("latin1", 0, 5) === "HTTP/") {
      throw broken(CODE.PROTOCOL_ERROR, "it answers with HTTP/1: is this the socket of a gRPC server?");
    }
    this.#frames.push(bytes);
  }

  #onFrame(frame: Frame): void {
    if (!this.#connection.isReady && (frame.type !== TYPE.SETTINGS || (frame.flags & FLAG.ACK) !== 0)) {
      throw broken(CODE.PROTOCOL_ERROR, "the first frame is no SETTINGS: is this the socket of a gRPC server?");
    }
    const block = this.#blocks.read(frame);
    if (block === "part") this.#connection.idleFrames.count();
    else if (block !== undefined) this.#onBlock(block);
    else this.#onOther(frame);
  }

  #onOther(frame: Frame): void {
    switch (frame.type) {
      case TYPE.DATA:
        this.#onData(frame);
        break;
      case TYPE.RST_STREAM:
        this.#onReset(frame);
        break;
      case TYPE.SETTINGS:
        this.#onSettings(frame);
        break;
      case TYPE.PING:
        this.#onPing(frame);
        break;
      case TYPE.GOAWAY:
        this.#onGoAway(frame);
        break;
      case TYPE.WINDOW_UPDATE:
        this.#onWindowUpdate(frame);
        break;
      case TYPE.PUSH_PROMISE:
        throw broken(CODE.PROTOCOL_ERROR, "a pushed response, which the settings forbid");
      default:
        // PRIORITY, and frames of extensions.
        this.#connection.idleFrames.count();
    }
  }

  /** Undefined for a stream that has ended: the peer may not know yet. */
  #stream({ stream: id }: { stream: number }): Http2Stream | undefined {
    const stream = this.#connection.streams.get(id);
    if (stream === undefined && !this.#connection.knows(id)) {
      throw broken(CODE.PROTOCOL_ERROR, `a frame of stream ${id}, which was never opened`);
    }
    if (stream === undefined) this.#connection.idleFrames.count();
    return stream;
  }

  #onData(frame: Frame): void {
    const { length } = frame.payload;
    if (!this.#connection.received.take(length)) {
      throw broken(CODE.FLOW_CONTROL_ERROR, "more data than the connection's window allows");
    }
    // What is held is bounded by the windows of the streams.
    this.#connection.received.giveBack(length);
    const stream = this.#stream(frame);
    const bytes = withoutPadding(frame);
    if (stream === undefined) return;
    if (!stream.received.take(length)) {
      this.#connection.failStream(
        stream,
        new StreamError(CODE.FLOW_CONTROL_ERROR, "more data than the stream's window allows"),
      );
      return;
    }
    stream.received.giveBack(length - bytes.length);
    const isEnd = (frame.flags & FLAG.END_STREAM) !== 0;
    if (bytes.length === 0 && !isEnd) this.#connection.idleFrames.count();
    this.#deliver(stream, () => {
      if (bytes.length > 0) stream.listener.onData(bytes);
      if (!isEnd || this.#connection.streams.get(stream.id) !== stream) return;
      this.#ended(stream);
      stream.listener.onEnd();
    });
  }

  #onBlock({ stream: id, isEnd, bytes }: Block): void {
    // Decoded also for a stream that has ended: later blocks refer to its fields.
    const { fields, isCut } = this.#hpack.decode(bytes);
    const stream = this.#stream({ stream: id });
    if (stream === undefined) return;
    if (!isEnd) this.#connection.idleFrames.count();
    this.#deliver(stream, () => {
      if (isEnd) this.#ended(stream);
      stream.listener.onFields(fields, isEnd, isCut);
    });
  }

  /** A fault on one stream ends that stream. */
  #deliver(stream: Http2Stream, deliver: () => void): void {
    try {
      deliver();
    } catch (error) {
      if (!(error instanceof StreamError)) throw error;
      this.#connection.failStream(stream, error);
    }
  }

  /** The peer has ended the stream. One that has not read our request must not wait for the rest of it. */
  #ended(stream: Http2Stream): void {
    if (stream.isSent) this.#connection.forget(stream);
    else this.#connection.reset(stream, CODE.NO_ERROR);
  }

  #onReset(frame: Frame): void {
    if (frame.payload.length !== 4) throw broken(CODE.FRAME_SIZE_ERROR, "a RST_STREAM frame without its code");
    const stream = this.#stream(frame);
    if (stream === undefined) return;
    this.#connection.forget(stream);
    const code = frame.payload.readUInt32BE(0);
    stream.listener.onReset(code, code === CODE.REFUSED_STREAM);
  }

  #onSettings({ stream, flags, payload }: Frame): void {
    const connection = this.#connection;
    if (stream !== 0) throw broken(CODE.PROTOCOL_ERROR, "a SETTINGS frame of a stream");
    if ((flags & FLAG.ACK) !== 0) {
      if (payload.length > 0) throw broken(CODE.FRAME_SIZE_ERROR, "an acknowledgement with settings");
      connection.idleFrames.count();
      return;
    }
    connection.idleFrames.count();
    const before = connection.settings.window;
    connection.settings.apply(payload);
    connection.answer(SETTINGS_ACK);
    const grown = connection.settings.window - before;
    for (const open of grown === 0 ? [] : [...connection.streams.values()]) {
      if (!open.window.grow(grown)) throw broken(CODE.FLOW_CONTROL_ERROR, "a window that is too large");
      if (grown > 0) open.pump();
    }
    if (connection.isReady) connection.roomChanged();
    else connection.ready();
  }

  #onPing({ stream, flags, payload }: Frame): void {
    if (stream !== 0) throw broken(CODE.PROTOCOL_ERROR, "a PING frame of a stream");
    if (payload.length !== 8) throw broken(CODE.FRAME_SIZE_ERROR, "a PING frame without its 8 bytes");
    this.#connection.idleFrames.count();
    if ((flags & FLAG.ACK) === 0) this.#connection.answer(pingAck(payload));
  }

  #onGoAway({ stream, payload }: Frame): void {
    if (stream !== 0) throw broken(CODE.PROTOCOL_ERROR, "a GOAWAY frame of a stream");
    if (payload.length < 8) throw broken(CODE.FRAME_SIZE_ERROR, "a GOAWAY frame without its code");
    this.#connection.idleFrames.count();
    this.#connection.drain(payload.readUInt32BE(0) & 0x7fffffff);
  }

  #onWindowUpdate(frame: Frame): void {
    if (frame.payload.length !== 4) throw broken(CODE.FRAME_SIZE_ERROR, "a WINDOW_UPDATE frame without its bytes");
    const increment = frame.payload.readUInt32BE(0) & 0x7fffffff;
    this.#connection.idleFrames.count();
    if (frame.stream !== 0) {
      const stream = this.#stream(frame);
      if (stream !== undefined) this.#deliver(stream, () => stream.growWindow(increment));
      return;
    }
    if (increment === 0) throw broken(CODE.PROTOCOL_ERROR, "a WINDOW_UPDATE of 0 bytes");
    if (!this.#connection.window.grow(increment)) throw broken(CODE.FLOW_CONTROL_ERROR, "a window that is too large");
    this.#connection.pump();
  }
}

function broken(code: Code, message: string): ConnectionError {
  return new ConnectionError(code, message);
}
