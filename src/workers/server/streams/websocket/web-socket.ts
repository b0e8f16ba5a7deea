// The server's end of a WebSocket, by `ws`: its messages, flow control in both directions, and its end. Invariant:
// after the kubelet's close frame nothing is sent. Received bytes are read and dropped, so that the client's end is
// noticed. The client's close frame counts as its end, not only its disconnect. What it sent before is handled first,
// one message in a round of the loop. An error in a handler ends the client's connection.

import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { RawData, WebSocket } from "ws";
import type { Clock, Timer } from "../../../../shared/base/clock/clock.js";
import { faultPoint } from "../../../../shared/base/faults/fault-points.js";
import { ownedBy } from "../../clients/owned.js";
import { CLOSE_CODE, WebSocketError } from "./close-codes.js";
import { openWebSocket } from "./handshake.js";

/** If a client's pings wait behind input that is not read, we send a pong this often; kubectl gives up after 61 s. */
const SIGN_OF_LIFE_MS = 20_000;

interface WebSocketEvents {
  /** @throws WebSocketError */
  onMessage(message: Buffer): void;
  /** Once: nothing more comes, since the client closed, went away, or broke the rules. */
  onEnd(): void;
  /** The sent data was flushed: more can be written. */
  onDrain(): void;
}

export interface WebSocketOptions {
  events: WebSocketEvents;
  /** Whether messages of text are taken, as bytes. */
  text: boolean;
  clock: Clock;
}

export class WebSocketEnd {
  private socket: WebSocket | undefined;
  private closed = false;
  private ended = false;
  /** Frames that `ws` has passed on. */
  private frames = 0;
  private hasLeft = false;
  /** From a pause until a ping comes through. */
  private signs: Timer | undefined;

  constructor(
    private readonly client: Duplex,
    private readonly options: WebSocketOptions,
  ) {}

  /**
   * Tells the client that its request was accepted.
   * @param head what came with the request's last bytes
   */
  open(request: IncomingMessage, head: Buffer, protocol: string): void {
    const { client } = this;
    const socket = openWebSocket(request, client, head, protocol);
    this.socket = socket;
    const onMessage = (message: RawData, isBinary: boolean): void => this.onMessage(message as Buffer, isBinary);
    socket?.on("message", ownedBy(client, onMessage));
    const onFrame = ownedBy(client, () => this.onFrame());
    for (const kind of ["message", "ping", "pong"] as const) socket?.on(kind, onFrame);
    socket?.on("ping", () => this.endSigns());
    const onLeft = ownedBy(client, () => this.onLeft());
    // It has sent the close frame with the broken rule.
    const onError = ownedBy(client, () => this.end(CLOSE_CODE.PROTOCOL_ERROR));
    socket?.on("error", onError);
    // `ws` has read the part before.
    client.on(
      "data",
      ownedBy(client, () => this.endIfClosed()),
    );
    const onDrain = ownedBy(client, () => this.options.events.onDrain());
    client.on("drain", () => {
      if (!this.closed) onDrain();
    });
    client.once("end", onLeft);
    client.once("close", onLeft);
  }

  /** Sends a message. False: that is enough until onDrain. */
  send(message: Buffer): boolean {
    if (this.closed) return true;
    this.socket?.send(message);
    return !this.client.writableNeedDrain;
  }

  /** No more is read until `resume`. */
  pause(): void {
    if (this.closed) return;
    this.socket?.pause();
    this.signs ??= this.options.clock.every(SIGN_OF_LIFE_MS, () => {
      if (!this.client.writableNeedDrain) this.socket?.pong();
    });
  }

  resume(): void {
    this.socket?.resume();
  }

  /** Sends the close frame, and waits for the client to end the connection. */
  close(code: number): void {
    if (this.closed) return;
    this.closed = true;
    this.endSigns();
    this.socket?.close(code);
    this.client.end();
    this.resume();
  }

  private onMessage(message: Buffer, isBinary: boolean): void {
    faultPoint("websocket-message");
    if (this.ended) return;
    if (!isBinary && !this.options.text) {
      this.end(CLOSE_CODE.UNSUPPORTED);
      return;
    }
    try {
      this.options.events.onMessage(message);
    } catch (error) {
      if (!(error instanceof WebSocketError)) throw error;
      this.end(CLOSE_CODE.PROTOCOL_ERROR);
    }
  }

  /** The next frame comes in a later round of the loop, but a close frame directly behind this one. */
  private onFrame(): void {
    this.frames++;
    queueMicrotask(ownedBy(this.client, () => this.endIfClosed()));
  }

  /** `ws` reports a close frame only when the connection is closed. */
  private endIfClosed(): void {
    if (!this.hasLeft && this.socket?.readyState !== this.socket?.OPEN) this.end(CLOSE_CODE.NORMAL);
  }

  /** Nothing more comes from the client. It has ended when no frame is left: each round of the loop has one. */
  private onLeft(): void {
    if (this.hasLeft) return;
    this.hasLeft = true;
    this.endAfterFrames();
  }

  /** Two timers, one after the other, have a whole round of the loop between them. */
  private endAfterFrames(): void {
    const { clock } = this.options;
    const before = this.frames;
    const look = (): void => (this.frames === before ? this.end(CLOSE_CODE.NORMAL) : this.endAfterFrames());
    clock.after(1, () => clock.after(1, ownedBy(this.client, look)));
  }

  private end(code: number): void {
    if (this.ended) return;
    this.ended = true;
    this.close(code);
    this.options.events.onEnd();
  }

  private endSigns(): void {
    this.signs?.cancel();
    this.signs = undefined;
  }
}
