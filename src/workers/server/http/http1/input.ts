// The input of one HTTP/1 connection: what the socket reads goes through RequestReader, and Node's parser gets what
// that writes.
// Invariant: the nth request that Node hands over is the nth head that was read; a request without one ends its
// connection. What waits is bounded in bytes (HeadMemory) and in time. The client's end is passed on when the responses
// before it have ended, as in Go.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Clock, Timer } from "../../../../shared/base/clock/clock.js";
import { headTooLate } from "../../../../shared/io/http/server/refusal.js";
import type { RequestHead } from "../../../../shared/io/http/server/request-head.js";
import { RequestReader, type Refused, type RequestSink } from "../../../../shared/io/http/server/request-reader.js";
import type { Turns } from "../../clients/turns.js";
import { endAndLinger } from "../linger.js";
import { whenBodyIsWanted } from "./bodies.js";
import type { HeadShare } from "./head-memory.js";
import { setHead } from "./heads.js";

/** Longest time in which responses end after the client's end, milliseconds. */
const HALF_CLOSED_MS = 10_000;
/** Smaller heads are not counted after they were read: a connection has few at once. */
const COUNTED_BYTES = 4096;

export interface InputOptions {
  /** From the first byte of a head until it is whole. */
  headMs: number;
  /** From a response that ends a connection until the connection is cut. */
  lingerMs: number;
  /** Upgrades are passed on. */
  upgrades: boolean;
  clock: Clock;
  turns: Turns;
}

interface Waiting {
  readonly head: RequestHead | Refused;
  readonly release: (() => void) | undefined;
}

export class Input implements RequestSink {
  private readonly reader: RequestReader;
  /** Heads whose requests Node has not handed over yet. */
  private readonly heads: Waiting[] = [];
  private readonly push: (chunk: Buffer | null) => boolean;
  private flows = true;
  private late: Timer | undefined;
  private cut: Timer | undefined;
  /** The client sends no more. */
  private hasEnded = false;
  private last: RequestHead | Refused | undefined;
  /** The body of the last request breaks off. */
  private isBodyBroken = false;
  private isBodyWanted = false;

  /** To be called when Node's server has the connection, and before any byte is read. */
  constructor(
    private readonly socket: Socket,
    private readonly share: HeadShare,
    private readonly options: InputOptions,
  ) {
    this.reader = new RequestReader(this, { upgrades: options.upgrades });
    this.push = socket.push.bind(socket);
    // Node's parser reads from the kernel by itself until there is another reader.
    const other = (): void => undefined;
    socket.on("data", other).off("data", other);
    socket.push = (chunk: unknown) => this.onRead(chunk);
    socket.once("close", () => {
      this.late?.cancel();
      this.cut?.cancel();
      this.reader.stop();
      this.share.close();
    });
  }

  /** The head of a request that Node hands over. undefined: there is none, and the connection must end. */
  take(request: IncomingMessage, response?: ServerResponse): RequestHead | Refused | undefined {
    const next = this.heads.shift();
    if (next === undefined) return undefined;
    const { head, release } = next;
    setHead(request, head);
    if (release !== undefined) response?.once("close", release);
    if (head.kind === "refused") {
      // The client may still be sending.
      this.socket.destroySoon = () => endAndLinger(this.socket, this.options);
      return head;
    }
    request.method = head.method;
    request.url = head.target;
    if (response === undefined || head.framing.kind === "none") return head;
    if (head.expects === "continue") response.shouldKeepAlive = false;
    whenBodyIsWanted(request, () => this.onBodyWanted(head, response));
    return head;
  }

  onHead(head: RequestHead | Refused, bytes: number): void {
    this.late?.cancel();
    this.late = undefined;
    this.last = head;
    this.isBodyWanted = false;
    const release = bytes > COUNTED_BYTES ? this.share.countHead(bytes) : undefined;
    if (release === undefined) this.share.read(0);
    this.heads.push({ head, release });
  }

  pass(bytes: Buffer): void {
    if (!this.push(bytes)) this.flows = false;
    if (this.socket.destroyed) this.reader.stop();
  }

  mayHold(bytes: number): boolean {
    return this.share.read(bytes);
  }

  onBrokenBody(): void {
    this.isBodyBroken = true;
    if (this.isBodyWanted) this.push(null);
    else this.whenDone(() => endAndLinger(this.socket, this.options));
  }

  private onRead(chunk: unknown): boolean {
    this.flows = true;
    if (Buffer.isBuffer(chunk)) this.onBytes(chunk);
    else if (chunk === null) this.onEnd();
    return this.flows;
  }

  private onBytes(bytes: Buffer): void {
    if (this.socket.destroyed) return;
    this.reader.feed(bytes);
    if (!this.reader.isInHead || this.late !== undefined) return;
    this.late = this.options.clock.after(this.options.headMs, () => this.reader.refuse(headTooLate()));
  }

  private onEnd(): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    if (this.reader.isRaw) {
      this.push(null);
      return;
    }
    this.reader.end();
    if (this.isBodyBroken) return;
    this.whenDone(() => this.push(null));
  }

  /**
   * Calls `then` when all responses have ended; at once, when one is being written and has nothing to write; after a
   * time in any case.
   */
  private whenDone(then: () => void): void {
    const { turns, clock } = this.options;
    const { socket } = this;
    if (turns.currentOf(socket)?.headersSent === true && socket.writableLength === 0) {
      then();
      return;
    }
    const once = (): void => {
      if (this.cut === undefined) return;
      this.cut.cancel();
      this.cut = undefined;
      if (!socket.destroyed) then();
    };
    this.cut ??= clock.after(HALF_CLOSED_MS, once);
    turns.whenIdle(socket, once);
  }

  private onBodyWanted(head: RequestHead, response: ServerResponse): void {
    if (head !== this.last) return;
    this.isBodyWanted = true;
    if (this.isBodyBroken) this.push(null);
    else if (head.expects === "continue") response.writeContinue();
  }
}
