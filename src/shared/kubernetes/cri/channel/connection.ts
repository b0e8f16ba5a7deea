// One HTTP/2 connection of a client on a unix socket: socket, settings, streams. What the peer sends is read in
// incoming.ts.
// Invariant: a connection that breaks the protocol ends with its cause; every stream hears its end exactly once.

import { createConnection, type Socket } from "node:net";
import type { Clock } from "../../../base/clock/clock.js";
import { asError, messageOf } from "../../../base/errors/thrown.js";
import { DEFAULT_WINDOW, LARGEST_STREAM_ID, SETTING } from "./frames/frame-types.js";
import { CODE, ConnectionError, type StreamError } from "./frames/http2-errors.js";
import { goAway, headersFrames, PREFACE, rstStream, settingsFrame, windowUpdate } from "./frames/write-frames.js";
import { MAX_LIST_BYTES } from "./hpack/decoder.js";
import { NO_TABLE } from "./hpack/encode.js";
import { Http2Stream, type StreamHost, type StreamListener } from "./http2-stream.js";
import { IdleFrames } from "./idle-frames.js";
import type { IncomingHost } from "./incoming-host.js";
import { Incoming } from "./incoming.js";
import { PeerSettings } from "./peer-settings.js";
import { CONNECTION_WINDOW, ReceiveWindow, STREAM_WINDOW } from "./receive-window.js";
import { SendWindow } from "./send-window.js";

/** Bytes that wait for a runtime that does not read: calls wait beyond it, and answers end the connection. */
export const MAX_UNSENT_BYTES = 4 * 1024 * 1024;

/** Bytes of one read from the socket. */
const READ_BYTES = 32 * 1024;

const OWN_SETTINGS = settingsFrame(
  new Map([
    [SETTING.ENABLE_PUSH, 0],
    [SETTING.INITIAL_WINDOW_SIZE, STREAM_WINDOW],
    [SETTING.MAX_HEADER_LIST_SIZE, MAX_LIST_BYTES],
  ]),
);

export interface ConnectionListener {
  /** The peer's settings arrived. */
  onReady(): void;
  /** Another stream may be opened, perhaps. */
  onRoom(): void;
  /** No further stream; those that run may end. */
  onDraining(): void;
  /** Once. `error` is a ConnectionError if the peer broke the protocol, undefined if the peer closed. */
  onClosed(error: Error | undefined): void;
}

export class Connection implements StreamHost, IncomingHost {
  readonly window = new SendWindow(DEFAULT_WINDOW);
  readonly settings = new PeerSettings();
  readonly streams = new Map<number, Http2Stream>();
  readonly received: ReceiveWindow;
  readonly idleFrames: IdleFrames;
  readonly #listener: ConnectionListener;
  readonly #socket: Socket;
  readonly #incoming: Incoming;
  readonly #waiting = new Set<Http2Stream>();
  #unsent: Buffer[] = [];
  #nextId = 1;
  #isReady = false;
  #isDraining = false;
  #isClosed = false;

  constructor(path: string, clock: Pick<Clock, "monotonic">, listener: ConnectionListener) {
    this.#listener = listener;
    this.idleFrames = new IdleFrames(clock);
    this.received = new ReceiveWindow(CONNECTION_WINDOW, (increment) => this.write(windowUpdate(0, increment)));
    this.#incoming = new Incoming(this);
    const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
    const onRead = (length: number): true => {
      this.#read(buffer.subarray(0, length));
      return true;
    };
    this.#socket = createConnection({ path, onread: { buffer, callback: onRead } });
    this.#socket.on("error", (error) => this.#close(error));
    this.#socket.on("drain", () => this.#listener.onRoom());
    this.#socket.on("end", () => this.#close(undefined));
    this.#socket.on("close", () => this.#close(undefined));
    this.write(PREFACE);
    this.write(OWN_SETTINGS);
    this.write(windowUpdate(0, CONNECTION_WINDOW - DEFAULT_WINDOW));
  }

  get maxFrameBytes(): number {
    return this.settings.maxFrameBytes;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** The peer takes another stream, and reads. */
  get hasRoom(): boolean {
    if (!this.#isReady || this.#isDraining || this.#isClosed) return false;
    return this.streams.size < this.settings.maxStreams && this.#socket.writableLength <= MAX_UNSENT_BYTES;
  }

  /** It has had a stream. */
  get wasUsed(): boolean {
    return this.#nextId > 1;
  }

  knows(id: number): boolean {
    return id % 2 === 1 && id < this.#nextId;
  }

  /**
   * Sends a request. The caller has seen that there is room.
   * @param block the fields, as HPACK has them without its table
   */
  open(block: Buffer, message: Buffer | undefined, isEnd: boolean, listener: StreamListener): Http2Stream {
    const id = this.#nextId;
    this.#nextId += 2;
    const stream = new Http2Stream(id, listener, this, this.settings.window);
    this.streams.set(id, stream);
    if (this.streams.size === 1) this.#socket.ref();
    this.idleFrames.onCall();
    const fields = id === 1 ? Buffer.concat([NO_TABLE, block]) : block;
    const endsWithHead = isEnd && message === undefined;
    for (const part of headersFrames(id, fields, endsWithHead, this.maxFrameBytes)) this.write(part);
    if (endsWithHead) {
      stream.sentWithHead();
      return stream;
    }
    if (message !== undefined) stream.send(message);
    if (isEnd) stream.end();
    stream.pump();
    if (this.#nextId > LARGEST_STREAM_ID - 2) this.drain(LARGEST_STREAM_ID);
    return stream;
  }

  reset(stream: Http2Stream, code: number): void {
    if (this.streams.get(stream.id) !== stream) return;
    this.write(rstStream(stream.id, code));
    this.forget(stream);
  }

  forget(stream: Http2Stream): void {
    if (!this.streams.delete(stream.id)) return;
    this.#waiting.delete(stream);
    if (this.streams.size > 0) this.#listener.onRoom();
    else if (this.#isDraining) this.close();
    else {
      this.#socket.unref();
      this.#listener.onRoom();
    }
  }

  write(bytes: Buffer): void {
    this.#unsent.push(bytes);
    // One write for what all the answers of this read lead to.
    if (this.#unsent.length === 1) process.nextTick(() => this.#flush());
  }

  answer(bytes: Buffer): void {
    if (this.#socket.writableLength > MAX_UNSENT_BYTES) {
      throw new ConnectionError(CODE.ENHANCE_YOUR_CALM, "it sends and does not read the answers");
    }
    this.write(bytes);
  }

  #flush(): void {
    const parts = this.#unsent;
    this.#unsent = [];
    const [first] = parts;
    if (this.#isClosed || first === undefined) return;
    this.#socket.write(parts.length === 1 ? first : Buffer.concat(parts));
  }

  waitForWindow(stream: Http2Stream): void {
    this.#waiting.add(stream);
  }

  pump(): void {
    for (const stream of [...this.#waiting]) {
      if (this.window.left <= 0) return;
      this.#waiting.delete(stream);
      stream.pump();
    }
  }

  ready(): void {
    if (this.#isReady) return;
    this.#isReady = true;
    if (this.streams.size === 0) this.#socket.unref();
    this.#listener.onReady();
  }

  roomChanged(): void {
    this.#listener.onRoom();
  }

  drain(last: number): void {
    if (this.#isClosed) return;
    if (!this.#isDraining) {
      this.#isDraining = true;
      this.#listener.onDraining();
    }
    const refused = [...this.streams.values()].filter(({ id }) => id > last);
    for (const stream of refused) this.forget(stream);
    for (const stream of refused) stream.listener.onReset(CODE.REFUSED_STREAM, true);
    if (this.streams.size === 0) this.close();
  }

  /** Ends the connection; its streams hear that they are lost. */
  close(): void {
    this.#close(undefined);
  }

  #read(bytes: Buffer): void {
    if (this.#isClosed) return;
    try {
      this.#incoming.push(bytes);
    } catch (error) {
      this.#fail(error);
    }
  }

  failStream(stream: Http2Stream, { code }: StreamError): void {
    this.reset(stream, code);
    stream.listener.onReset(code, false);
  }

  #fail(error: unknown): void {
    if (error instanceof ConnectionError && !this.#isClosed) {
      this.write(goAway(error.code));
      this.#flush();
    }
    this.#close(asError(error));
  }

  #close(error: Error | undefined): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#socket.destroy();
    const lost = [...this.streams.values()];
    this.streams.clear();
    this.#waiting.clear();
    this.#listener.onClosed(error);
    const reason = error instanceof ConnectionError ? `Connection dropped: ${messageOf(error)}` : "Connection dropped";
    for (const stream of lost) stream.listener.onLost(reason);
  }
}
