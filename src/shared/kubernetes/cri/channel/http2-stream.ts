// One request and its response on a connection: the bytes that wait to be sent, and the two windows.
// Invariant: the peer can make us hold at most STREAM_WINDOW bytes for the stream, because only bytes that the call has
// read are given back.

import { CODE, StreamError } from "./frames/http2-errors.js";
import { dataHead, windowUpdate } from "./frames/write-frames.js";
import type { Field } from "./hpack/static-table.js";
import { ReceiveWindow, STREAM_WINDOW } from "./receive-window.js";
import { SendWindow } from "./send-window.js";

/** What a call hears of its stream. `onEnd`, `onReset` and `onLost` are the last. */
export interface StreamListener {
  /** @param isCut the peer's fields are longer than we keep */
  onFields(fields: readonly Field[], isEnd: boolean, isCut: boolean): void;
  /** The bytes are valid until this returns. */
  onData(bytes: Buffer): void;
  /** The peer ended the stream with its last data, without trailers. */
  onEnd(): void;
  /** @param isRefused the peer has not processed the request */
  onReset(code: number, isRefused: boolean): void;
  /** The connection is gone. */
  onLost(reason: string): void;
}

/** What a stream needs of its connection. */
export interface StreamHost {
  readonly maxFrameBytes: number;
  readonly window: SendWindow;
  write(bytes: Buffer): void;
  /** Calls `pump` when the connection's window grows. */
  waitForWindow(stream: Http2Stream): void;
  /** Sends RST_STREAM and forgets the stream. */
  reset(stream: Http2Stream, code: number): void;
}

export class Http2Stream {
  readonly window: SendWindow;
  readonly received: ReceiveWindow;
  readonly #host: StreamHost;
  readonly #queue: Buffer[] = [];
  #isEndQueued = false;
  #isSent = false;

  constructor(
    readonly id: number,
    readonly listener: StreamListener,
    host: StreamHost,
    peerWindow: number,
  ) {
    this.#host = host;
    this.window = new SendWindow(peerWindow);
    this.received = new ReceiveWindow(STREAM_WINDOW, (increment) => host.write(windowUpdate(id, increment)));
  }

  /** True when our side has ended. */
  get isSent(): boolean {
    return this.#isSent;
  }

  /** Its HEADERS frame has ended our side. */
  sentWithHead(): void {
    this.#isSent = true;
  }

  send(bytes: Buffer): void {
    this.#queue.push(bytes);
  }

  end(): void {
    this.#isEndQueued = true;
  }

  /** Sends what the windows allow. */
  pump(): void {
    for (let bytes = this.#queue[0]; bytes !== undefined; bytes = this.#queue[0]) {
      const most = Math.min(this.window.left, this.#host.window.left, this.#host.maxFrameBytes);
      if (most <= 0 && bytes.length > 0) {
        if (this.window.left > 0) this.#host.waitForWindow(this);
        return;
      }
      const part = bytes.subarray(0, most);
      if (part.length === bytes.length) this.#queue.shift();
      else this.#queue[0] = bytes.subarray(part.length);
      this.#write(part, this.#isEndQueued && this.#queue.length === 0);
    }
    if (this.#isEndQueued && !this.#isSent) this.#write(Buffer.alloc(0), true);
  }

  #write(part: Buffer, isEnd: boolean): void {
    this.window.spend(part.length);
    this.#host.window.spend(part.length);
    this.#host.write(dataHead(this.id, part.length, isEnd));
    if (part.length > 0) this.#host.write(part);
    if (isEnd) this.#isSent = true;
  }

  /** @throws StreamError for a window that grows beyond the protocol's limit */
  growWindow(increment: number): void {
    if (increment === 0) throw new StreamError(CODE.PROTOCOL_ERROR, "a WINDOW_UPDATE of 0 bytes");
    if (!this.window.grow(increment)) throw new StreamError(CODE.FLOW_CONTROL_ERROR, "a window that is too large");
    this.pump();
  }

  /** The call no longer wants it. */
  reset(code: number): void {
    this.#queue.length = 0;
    this.#host.reset(this, code);
  }
}
