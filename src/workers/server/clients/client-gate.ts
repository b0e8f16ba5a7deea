// Between a client's socket and its TLS: passes the records of an unauthorised client one by one, in its turns. The
// handshake is inspected. After an authorised request, all bytes pass at once.
// Invariant: bytes keep their order; no more than one chunk of the socket waits here, as the socket is paused
// meanwhile.

import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { HandshakeInspection } from "./handshake/inspection.js";
import { HandshakeRefusal } from "./handshake/messages.js";
import { NotTlsError, RecordSplitter, type TlsRecord } from "./handshake/records.js";
import type { ProcessorTurns, TurnTaker } from "./processor-turns.js";

/** Property of a TLS socket that holds its gate. HTTP/2's proxy objects for the socket have it, too. */
const GATE = Symbol("nodelet.server.gate");

export interface GateDeps {
  turns: ProcessorTurns;
  /** Processor time of one connection until one of its requests is authorised, milliseconds; then it is closed. */
  limitMs(): number;
  hasCredit(): boolean;
  /** The connection has used processor time. */
  onUse(ms: number): void;
  /** The connection was closed for this reason. */
  onRefused(why: string): void;
}

/** As Go's server answers a client that sends plain HTTP to the port of HTTPS. */
const HTTP_ANSWER = "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";

type Callback = (error?: Error | null) => void;

export class ClientGate extends Duplex implements TurnTaker {
  usedMs = 0;
  private readonly inspection = new HandshakeInspection();
  private readonly splitter = new RecordSplitter();
  private waiting: TlsRecord[] = [];
  /** Once the handshake is done. */
  private secure: TLSSocket | undefined;
  private open = false;
  private hasEnded = false;
  private drained: Callback | undefined;

  constructor(
    private readonly raw: Socket,
    private readonly deps: GateDeps,
  ) {
    super();
    // TLS decides when the other direction ends.
    raw.allowHalfOpen = true;
    raw.on("data", (bytes: Buffer) => this.onBytes(bytes));
    raw.once("end", () => this.onEnd());
    // Its close follows.
    raw.on("error", () => undefined);
    raw.once("close", () => this.destroy());
    raw.on("drain", () => this.onDrain());
    this.on("resume", () => this.wake());
  }

  /** The handshake is done. Puts the gate, and the addresses of its socket, on the TLS socket. */
  secured(socket: TLSSocket): void {
    this.secure = socket;
    this.inspection.end();
    // As of a TLS socket that reads from the kernel.
    socket.allowHalfOpen = false;
    const { remoteAddress, remotePort, remoteFamily, localAddress, localPort } = this.raw;
    const addresses = { remoteAddress, remotePort, remoteFamily, localAddress, localPort };
    for (const [name, value] of Object.entries(addresses)) Object.defineProperty(socket, name, { value });
    Object.defineProperty(socket, GATE, { value: this });
  }

  get isReady(): boolean {
    const [record] = this.waiting;
    return record !== undefined && this.takes && !this.inspection.mustWait(record);
  }

  hasCredit(): boolean {
    return this.deps.hasCredit();
  }

  takeTurn(): void {
    const record = this.waiting.shift();
    if (record === undefined || this.destroyed) return;
    try {
      this.inspection.examine(record);
    } catch (error) {
      if (!(error instanceof HandshakeRefusal)) throw error;
      this.refuse(error.message);
      return;
    }
    this.push(record.bytes);
    this.wake();
  }

  charge(ms: number): void {
    if (this.open) return;
    this.usedMs += ms;
    this.deps.onUse(ms);
    const limitMs = this.deps.limitMs();
    if (this.usedMs > limitMs) this.refuse(`it has used more than ${limitMs} ms of processor time`);
  }

  /** TLS 1.3: the secret of the client's handshake, as Node's event "keylog" has it. */
  setSecret(cipher: string, secret: Buffer): void {
    try {
      this.inspection.setSecret(cipher, secret);
    } catch (error) {
      this.refuse(messageOf(error));
      return;
    }
    this.wake();
  }

  /** A request was authorised: from now on, nothing of this connection is counted. */
  release(): void {
    if (this.open) return;
    this.open = true;
    this.deps.turns.leave(this);
    const rest = [...this.waiting.splice(0).map(({ bytes }) => bytes), this.splitter.rest()];
    for (const bytes of rest) if (bytes.length > 0) this.push(bytes);
    this.pushEnd();
    this.raw.resume();
  }

  override _read(): void {
    if (this.open) this.raw.resume();
    else this.wake();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Callback): void {
    if (this.raw.write(chunk)) done();
    else this.drained = done;
  }

  override _writev(chunks: { chunk: Buffer }[], done: Callback): void {
    this.raw.cork();
    let hasSpace = true;
    for (const { chunk } of chunks) hasSpace = this.raw.write(chunk);
    this.raw.uncork();
    if (hasSpace) done();
    else this.drained = done;
  }

  override _final(done: Callback): void {
    this.raw.end();
    done();
  }

  override _destroy(error: Error | null, done: Callback): void {
    this.waiting = [];
    this.deps.turns.leave(this);
    this.raw.destroy();
    this.secure?.destroy();
    this.drained?.();
    done(error);
  }

  /** What is pushed now is handled now. */
  private get takes(): boolean {
    return this.readableFlowing === true && this.readableLength === 0;
  }

  private onBytes(bytes: Buffer): void {
    if (this.open) {
      if (!this.push(bytes)) this.raw.pause();
      return;
    }
    try {
      this.waiting.push(...this.splitter.split(bytes));
    } catch (error) {
      if (!(error instanceof NotTlsError)) throw error;
      if (error.isHttp) this.answerHttp(error.message);
      else this.refuse(error.message);
      return;
    }
    if (this.waiting.length > 0) this.raw.pause();
    this.wake();
  }

  /** Bytes wait, or the socket can be read again. */
  private wake(): void {
    if (this.destroyed || this.open) return;
    if (this.isReady) this.deps.turns.enter(this);
    else if (this.waiting.length === 0) this.raw.resume();
    this.pushEnd();
  }

  private onEnd(): void {
    this.hasEnded = true;
    this.pushEnd();
  }

  /** A client may end its side right after its request, when the handshake is not done here. */
  private pushEnd(): void {
    if (!this.hasEnded || this.waiting.length > 0 || this.readableEnded) return;
    if (this.secure === undefined) {
      this.destroy();
      return;
    }
    this.hasEnded = false;
    this.push(null);
  }

  private onDrain(): void {
    const done = this.drained;
    this.drained = undefined;
    done?.();
  }

  private answerHttp(why: string): void {
    this.raw.removeAllListeners("data").resume();
    this.raw.end(HTTP_ANSWER, () => this.refuse(why));
  }

  private refuse(why: string): void {
    if (this.destroyed) return;
    this.destroy();
    this.deps.onRefused(why);
  }
}

/** @param socket of a request */
export function gateOf(socket: object): ClientGate | undefined {
  return (socket as { [GATE]?: ClientGate })[GATE];
}
