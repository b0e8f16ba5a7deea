// One call of grpc-js' Client on our channel: its deadline, its messages and its status.
// Invariants: the listener gets one status, and nothing after it. It is called in a turn of its own, so that a fault of
// its caller does not end the connection. OK comes after every message was read; a failure drops the unread ones.

import { status as STATUS, type Client, type Deadline, type Metadata, type StatusObject } from "@grpc/grpc-js";
import type { Clock, Timer } from "../../../base/clock/clock.js";
import { type WallTime, wallTime } from "../../../base/clock/moments.js";
import { messageOf } from "../../../base/errors/thrown.js";
import type { Connection } from "./connection.js";
import { CODE } from "./frames/http2-errors.js";
import { httpStatusOf, metadataOf, statusOf, statusOfReset, statusOfTrailers } from "./grpc-status.js";
import type { HeldBytes, Holder } from "./held-bytes.js";
import type { Field } from "./hpack/static-table.js";
import type { Http2Stream, StreamListener } from "./http2-stream.js";
import { MessageReader, withPrefix } from "./message-reader.js";
import type { RequestFields } from "./request-fields.js";

export type GrpcChannel = ReturnType<Client["getChannel"]>;
type GrpcCall = ReturnType<GrpcChannel["createCall"]>;
type Listener = Parameters<GrpcCall["start"]>[1];
type MessageContext = Parameters<GrpcCall["sendMessageWithContext"]>[0];
type AuthContext = ReturnType<GrpcCall["getAuthContext"]>;

/** What a call needs of its channel. */
export interface CallHost {
  readonly clock: Clock;
  readonly fields: RequestFields;
  readonly maxMessageBytes: number;
  readonly held: HeldBytes;
  readonly peer: string;
  readonly nextNumber: () => number;
  /** Calls `openOn` with a connection that has room, or `fail`. */
  dispatch(call: OwnCall): void;
  /** The call waits no longer. */
  withdraw(call: OwnCall): void;
}

export class OwnCall implements GrpcCall, StreamListener, Holder {
  readonly #host: CallHost;
  readonly #path: string;
  readonly #number: number;
  /** Infinity for none. */
  readonly #deadlineAt: WallTime;
  readonly #madeAt: WallTime;
  readonly #reader: MessageReader;
  #timer: Timer | undefined;
  #metadata: Metadata | undefined;
  #listener: Listener | undefined;
  /** With their prefix. Kept until the response begins: a refused request is sent once more. */
  #messages: Buffer[] = [];
  #isHalfClosed = false;
  #stream: Http2Stream | undefined;
  #wasRefused = false;
  #httpStatus: number | undefined;
  #hasResponse = false;
  /** The reader has asked for a message that it did not get. */
  #isReading = false;
  #isPushing = false;
  /** Bytes of the last message, until the next one is asked for: the client keeps a unary reply until the status. */
  #passed = 0;
  /** Bytes that the stream's window lacks. */
  #owed = 0;
  #status: StatusObject | undefined;
  #isOver = false;

  constructor(host: CallHost, path: string, deadline: Deadline) {
    this.#host = host;
    this.#path = path;
    this.#number = host.nextNumber();
    this.#madeAt = host.clock.now();
    this.#deadlineAt = wallTime(deadline instanceof Date ? deadline.getTime() : deadline);
    this.#reader = new MessageReader(host.maxMessageBytes);
    if (Number.isFinite(this.#deadlineAt)) {
      this.#timer = host.clock.after(Math.max(0, this.#deadlineAt - this.#madeAt), () => this.#onDeadline());
    }
  }

  get waitsForReady(): boolean {
    return this.#metadata?.getOptions().waitForReady === true;
  }

  start(metadata: Metadata, listener: Listener): void {
    this.#metadata = metadata;
    this.#listener = listener;
    // The client passes the message and the end of the request in this turn: they go into one write.
    queueMicrotask(() => {
      if (this.#status !== undefined) return;
      if (this.#deadlineAt <= this.#host.clock.now()) this.#onDeadline();
      else this.#host.dispatch(this);
    });
  }

  sendMessageWithContext(context: MessageContext, message: Buffer): void {
    const framed = withPrefix(message);
    if (!this.#hasResponse) this.#messages.push(framed);
    if (this.#stream !== undefined) {
      this.#stream.send(framed);
      this.#stream.pump();
    }
    if (context.callback !== undefined) process.nextTick(context.callback);
  }

  halfClose(): void {
    this.#isHalfClosed = true;
    this.#stream?.end();
    this.#stream?.pump();
  }

  startRead(): void {
    this.#isReading = true;
    this.#passed = 0;
    this.#push();
    this.#countHeld();
  }

  cancelWithStatus(code: STATUS, details: string): void {
    this.#end(statusOf(code, details));
  }

  getPeer(): string {
    return this.#host.peer;
  }

  getCallNumber(): number {
    return this.#number;
  }

  setCredentials(): void {
    // A unix socket has none.
  }

  getAuthContext(): AuthContext {
    return null;
  }

  openOn(connection: Connection): void {
    const metadata = this.#metadata;
    if (metadata === undefined || this.#status !== undefined) return;
    let block: Buffer;
    try {
      const left = Number.isFinite(this.#deadlineAt) ? this.#deadlineAt - this.#host.clock.now() : undefined;
      block = this.#host.fields.encode(this.#path, left, metadata);
    } catch (error) {
      this.#end(statusOf(STATUS.INTERNAL, messageOf(error)));
      return;
    }
    const message = this.#messages.length <= 1 ? this.#messages[0] : Buffer.concat(this.#messages);
    this.#stream = connection.open(block, message, this.#isHalfClosed, this);
  }

  fail(details: string): void {
    this.#end(statusOf(STATUS.UNAVAILABLE, details));
  }

  onFields(fields: readonly Field[], isEnd: boolean, isCut: boolean): void {
    if (isCut) {
      this.#end(statusOf(STATUS.RESOURCE_EXHAUSTED, "Received fields that are larger than max"));
      return;
    }
    this.#httpStatus ??= httpStatusOf(fields);
    if (isEnd) {
      this.#stream = undefined;
      this.#end(statusOfTrailers(fields, this.#httpStatus));
      return;
    }
    // 103 and the like: the response is still to come.
    if (this.#httpStatus !== undefined && this.#httpStatus < 200) {
      this.#httpStatus = undefined;
      return;
    }
    if (this.#hasResponse) {
      this.#end(statusOf(STATUS.INTERNAL, "Received RST_STREAM with code 1"));
      return;
    }
    this.#hasResponse = true;
    this.#messages = [];
    const metadata = metadataOf(fields);
    process.nextTick(() => {
      if (!this.#isOver) this.#listener?.onReceiveMetadata(metadata);
    });
  }

  onData(bytes: Buffer): void {
    if (this.#status !== undefined) return;
    if (!this.#hasResponse) {
      this.#end(statusOf(STATUS.INTERNAL, "Received RST_STREAM with code 1"));
      return;
    }
    this.#owed += bytes.length;
    this.#reader.push(bytes);
    this.#push();
    this.#reader.keep();
    this.#countHeld();
  }

  endOverLimit(held: number, most: number): void {
    const details = `Received replies that are together larger than max (${held} vs ${most})`;
    this.#end(statusOf(STATUS.RESOURCE_EXHAUSTED, details));
  }

  #countHeld(): void {
    this.#host.held.set(this, this.#isOver ? 0 : this.#reader.room + this.#passed);
  }

  onEnd(): void {
    this.#stream = undefined;
    this.#end(statusOfReset(CODE.NO_ERROR, this.#httpStatus));
  }

  onReset(code: number, isRefused: boolean): void {
    this.#stream = undefined;
    if (isRefused && !this.#hasResponse && !this.#wasRefused && this.#status === undefined) {
      this.#wasRefused = true;
      this.#host.dispatch(this);
      return;
    }
    this.#end(statusOfReset(code, this.#httpStatus));
  }

  onLost(reason: string): void {
    this.#stream = undefined;
    this.fail(reason);
  }

  /** Passes a message on, if the reader asked for one and it is here. */
  #push(): void {
    if (this.#isReading && !this.#isPushing && !this.#isOver) {
      const message = this.#nextMessage();
      if (message !== undefined) {
        this.#isReading = false;
        this.#isPushing = true;
        this.#passed = message.length;
        process.nextTick(() => {
          this.#isPushing = false;
          if (this.#isOver) return;
          this.#listener?.onReceiveMessage(message);
          this.#push();
          this.#finish();
          this.#countHeld();
        });
      }
    }
    this.#returnWindow();
  }

  #nextMessage(): Buffer | undefined {
    try {
      return this.#reader.next();
    } catch (error) {
      const isError = this.#httpStatus !== undefined && this.#httpStatus !== 200;
      // Not gRPC: the page of a server of another kind.
      if (isError) this.#end(statusOfReset(CODE.NO_ERROR, this.#httpStatus));
      else this.#end(statusOf(STATUS.RESOURCE_EXHAUSTED, messageOf(error)));
      return undefined;
    }
  }

  /** What was read; all, while the reader waits for the rest of a message. */
  #returnWindow(): void {
    if (this.#stream === undefined) return;
    const held = this.#isReading && !this.#isPushing ? 0 : this.#reader.held;
    const bytes = this.#owed - held;
    if (bytes <= 0) return;
    this.#owed -= bytes;
    this.#stream.received.giveBack(bytes);
  }

  /** The first status counts, unless it is OK and the client then finds a fault. */
  #end(status: StatusObject): void {
    if (this.#isOver || (this.#status !== undefined && this.#status.code !== STATUS.OK)) return;
    this.#status = status;
    this.#host.withdraw(this);
    const stream = this.#stream;
    this.#stream = undefined;
    stream?.reset(CODE.CANCEL);
    this.#finish();
  }

  #finish(): void {
    const status = this.#status;
    if (status === undefined || this.#isOver) return;
    // Messages that the client never reads, such as the second one of a unary call, wait until the deadline.
    if (status.code === STATUS.OK && (this.#isPushing || this.#reader.hasMessage)) return;
    this.#isOver = true;
    this.#reader.drop();
    this.#countHeld();
    this.#timer?.cancel();
    process.nextTick(() => this.#listener?.onReceiveStatus(status));
  }

  #onDeadline(): void {
    const seconds = ((this.#host.clock.now() - this.#madeAt) / 1000).toFixed(3);
    this.#end(statusOf(STATUS.DEADLINE_EXCEEDED, `Deadline exceeded after ${seconds}s,remote_addr=${this.#host.peer}`));
  }
}
