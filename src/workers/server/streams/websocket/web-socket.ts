// The server's end of a WebSocket over a connection whose handshake is done.
// What must hold: a ping is answered however much waits to be sent, with one answer held back at most; after our close frame
// nothing is sent, and what still comes is read and dropped, so that the client's end is seen.
import type { Duplex } from "node:stream";
import type { Clock, Timer } from "../../../../shared/clock/clock.js";
import { FrameReader, WebSocketError, type Place } from "./frame-reader.js";
import { CLOSE_CODE, closeFrame, messageHead, pongFrame } from "./frames.js";

/** A client whose pings wait behind input that is not taken hears from us so often; kubectl gives up after 61 s. */
export const SIGN_OF_LIFE_MS = 20_000;

export interface WebSocketEvents {
  /** A part of a message, as it came. */
  onData(part: Buffer, place: Place): void;
  /** Once: nothing more comes, since the client closed, went away, or broke the rules. */
  onEnd(): void;
  /** What was sent has gone out: more may be. */
  onDrain(): void;
}

export interface WebSocketOptions {
  events: WebSocketEvents;
  /** Whether messages of text are taken, as bytes. */
  text: boolean;
  clock: Clock;
}

export class WebSocketEnd {
  private readonly reader: FrameReader;
  /** The answer to the newest ping, where an older one still waits to go out. */
  private pong: Buffer | undefined;
  private closed = false;
  private ended = false;
  /** From a pause until a ping comes through. */
  private signs: Timer | undefined;

  constructor(
    private readonly socket: Duplex,
    private readonly options: WebSocketOptions,
  ) {
    this.reader = new FrameReader(
      {
        onData: (part, place) => this.options.events.onData(part, place),
        onPing: (payload) => this.onPing(payload),
        onClose: () => this.end(CLOSE_CODE.NORMAL),
      },
      options.text,
    );
  }

  /** @param head what came with the handshake's last bytes */
  start(head: Buffer): void {
    const { socket } = this;
    socket.on("data", (chunk: Buffer) => this.read(chunk));
    socket.on("drain", () => this.onDrain());
    socket.once("end", () => this.end(CLOSE_CODE.NORMAL));
    socket.once("close", () => this.end(CLOSE_CODE.NORMAL));
    if (head.length > 0) this.read(head);
  }

  /** Sends a message. False: that is enough until onDrain. */
  send(data: Buffer, channel?: number): boolean {
    if (this.closed) return true;
    this.socket.cork();
    this.socket.write(messageHead(data.length, channel));
    if (data.length > 0) this.socket.write(data);
    this.socket.uncork();
    return !this.socket.writableNeedDrain;
  }

  /** No more is read until `resume`. */
  pause(): void {
    if (this.closed) return;
    this.socket.pause();
    this.signs ??= this.options.clock.every(SIGN_OF_LIFE_MS, () => this.answer(this.pong ?? Buffer.alloc(0)));
  }

  resume(): void {
    this.socket.resume();
  }

  /** Says no more, and waits for the client to end the connection. */
  close(code: number): void {
    if (this.closed) return;
    this.closed = true;
    this.endSigns();
    if (this.socket.writable) this.socket.end(closeFrame(code));
    this.resume();
  }

  private read(chunk: Buffer): void {
    if (this.ended) return;
    try {
      this.reader.push(chunk);
    } catch (error) {
      if (!(error instanceof WebSocketError)) throw error;
      this.end(error.code);
    }
  }

  private end(code: number): void {
    if (this.ended) return;
    this.ended = true;
    this.close(code);
    this.options.events.onEnd();
  }

  private onPing(payload: Buffer): void {
    this.endSigns();
    this.answer(payload);
  }

  private endSigns(): void {
    this.signs?.cancel();
    this.signs = undefined;
  }

  private answer(payload: Buffer): void {
    if (this.closed) return;
    if (this.socket.writableNeedDrain) this.pong = Buffer.from(payload);
    else this.socket.write(pongFrame(payload));
  }

  private onDrain(): void {
    const { pong } = this;
    this.pong = undefined;
    if (pong !== undefined) this.answer(pong);
    if (!this.closed) this.options.events.onDrain();
  }
}
