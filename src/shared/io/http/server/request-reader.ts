// Reads the requests of one HTTP/1 connection from bytes that arrive in pieces, as Go's net/http does, and writes each
// anew for Node's parser.
//
//   head ──► body ──► head …      after an upgrade: raw
//                                 after a refusal, or a request that ends the connection: deaf
//
// Invariant: Node's parser gets no byte of a head that was not accepted, and no byte of a body's framing that was not
// written here. So there is one reading of where a request ends. What waits for its end is bounded by `mayHold` and
// MAX_HEAD_BYTES.

import { ChunkError, Chunks } from "../chunks.js";
import { FieldLines } from "../field-lines.js";
import { Lines, withoutCr } from "../lines.js";
import { headTooLarge, malformed, RefusedRequestError, type Refusal } from "./refusal.js";
import { requestHead, type Field, type RequestHead } from "./request-head.js";
import { parseRequestLine, type RequestLine } from "./request-line.js";
import { REFUSED_TEXT, requestText } from "./request-text.js";

/** Go's MaxHeaderBytes, as upstream's kubelet sets it, and what Go adds to it. */
export const MAX_HEAD_BYTES = 1024 * 1024 + 4096;
/** Header fields of one request: each takes processor time at once when the head is complete. Go counts bytes only. */
const MAX_FIELDS = 10_000;
/** Memory of a field, or of a line that continues one, beside its text. */
const FIELD_BYTES = 128;
/** Bytes of line ends that old clients send after the body of a POST. */
const STRAY_BYTES = 4;
/** Bytes of a further request without which it has not begun. */
const BEGUN_BYTES = 4;
const LAST_CHUNK = Buffer.from("0\r\n\r\n", "latin1");

export interface RequestSink {
  /** The next request of the connection; `bytes`: what its head takes of memory. Bytes that stand for it follow. */
  onHead(head: RequestHead | Refused, bytes: number): void;
  /** Bytes for Node's parser, or of the upgraded connection. */
  pass(bytes: Buffer): void;
  /** The body of the last request is no body, or breaks off. */
  onBrokenBody(why: string): void;
  /** Whether a head may take so many bytes of memory until its end. */
  mayHold(bytes: number): boolean;
}

export interface Refused {
  readonly kind: "refused";
  readonly refusal: Refusal;
}

export interface ReaderOptions {
  /** Upgrades are passed on. If not, such a request is an ordinary one. */
  readonly upgrades: boolean;
}

type State = "head" | "length" | "chunked" | "raw" | "deaf";

export class RequestReader {
  private state: State = "head";
  private readonly lines = new Lines();
  private headBytes = 0;
  private requestLine: RequestLine | undefined;
  private fields: Field[] = [];
  private readonly fieldLines = this.newFieldLines();
  private left = 0;
  private chunks = new Chunks();
  private last: RequestHead | undefined;
  private strayBytes = 0;
  /** The first bytes of a further request, fewer than BEGUN_BYTES. */
  private early: Buffer | undefined;

  constructor(
    private readonly sink: RequestSink,
    private readonly options: ReaderOptions,
  ) {}

  /** A part of a head is here. */
  get isInHead(): boolean {
    return this.state === "head" && this.headBytes > 0;
  }

  /** The connection was upgraded. */
  get isRaw(): boolean {
    return this.state === "raw";
  }

  feed(bytes: Buffer): void {
    const piece = this.early === undefined ? bytes : Buffer.concat([this.early, bytes]);
    this.early = undefined;
    let at = 0;
    while (at < piece.length) {
      switch (this.state) {
        case "head":
          at = this.readHead(piece, at);
          break;
        case "length":
          at = this.readLength(piece, at);
          break;
        case "chunked":
          at = this.readChunked(piece, at);
          break;
        case "raw":
          this.sink.pass(at === 0 ? piece : piece.subarray(at));
          return;
        case "deaf":
          return;
      }
    }
  }

  /** The client sends no more. */
  end(): void {
    switch (this.state) {
      case "head":
        if (this.headBytes > 0) this.refuse(malformed("unexpected EOF"));
        this.state = "deaf";
        break;
      case "length":
      case "chunked":
        this.breakBody("unexpected EOF");
        break;
      case "raw":
      case "deaf":
        break;
    }
  }

  /** Gives up the head that is being read. */
  refuse(refusal: Refusal): void {
    if (this.state !== "head") return;
    this.state = "deaf";
    this.sink.onHead({ kind: "refused", refusal }, 0);
    this.sink.pass(Buffer.from(REFUSED_TEXT, "latin1"));
    this.forgetHead();
  }

  /** Nothing more is read. */
  stop(): void {
    this.state = "deaf";
    this.forgetHead();
  }

  private readHead(piece: Buffer, start: number): number {
    if (this.last !== undefined && this.headBytes === 0 && piece.length - start < BEGUN_BYTES) {
      this.early = piece.subarray(start);
      return piece.length;
    }
    const at = this.skipStray(piece, start);
    if (at === piece.length) return at;
    const found = this.lines.next(piece, at);
    const next = found?.next ?? piece.length;
    this.headBytes += next - at;
    try {
      this.checkSize();
      if (found !== undefined) this.readLine(withoutCr(found.line));
    } catch (error) {
      if (!(error instanceof RefusedRequestError)) throw error;
      this.refuse(error.refusal);
    }
    return next;
  }

  private get heldBytes(): number {
    return this.headBytes + (this.fields.length + this.fieldLines.openLines) * FIELD_BYTES;
  }

  private skipStray(piece: Buffer, start: number): number {
    let at = start;
    if (this.headBytes > 0) return at;
    while (this.strayBytes > 0 && (piece[at] === 0x0d || piece[at] === 0x0a)) {
      this.strayBytes--;
      at++;
    }
    return at;
  }

  private checkSize(): void {
    if (this.headBytes > MAX_HEAD_BYTES) {
      throw new RefusedRequestError(headTooLarge(`a head of more than ${MAX_HEAD_BYTES} bytes`));
    }
    if (!this.sink.mayHold(this.heldBytes)) {
      throw new RefusedRequestError(headTooLarge("the large heads of all clients together take too much memory"));
    }
  }

  private readLine(line: string): void {
    if (this.requestLine === undefined) {
      this.requestLine = parseRequestLine(line);
      return;
    }
    if (!this.fieldLines.line(line)) return;
    const whole = requestHead(this.requestLine, this.fields);
    const { head } = whole;
    this.sink.onHead(head, this.heldBytes);
    const text = Buffer.from(requestText(whole, this.options.upgrades), "latin1");
    this.forgetHead();
    this.sink.pass(text);
    this.last = head;
    this.beginBody(head);
  }

  private beginBody(head: RequestHead): void {
    // The sink may have stopped the reader.
    if (this.state !== "head") return;
    if (head.upgrade !== undefined && this.options.upgrades) this.state = "raw";
    else if (head.framing.kind === "length") {
      this.left = head.framing.bytes;
      this.state = "length";
    } else if (head.framing.kind === "chunked") {
      this.chunks = new Chunks();
      this.state = "chunked";
    } else this.endMessage();
  }

  private endMessage(): void {
    this.state = this.last?.closes === true ? "deaf" : "head";
    this.strayBytes = this.last?.method === "POST" ? STRAY_BYTES : 0;
  }

  private readLength(piece: Buffer, at: number): number {
    const end = at + Math.min(piece.length - at, this.left);
    this.left -= end - at;
    this.sink.pass(piece.subarray(at, end));
    if (this.left === 0 && this.state === "length") this.endMessage();
    return end;
  }

  private readChunked(piece: Buffer, at: number): number {
    const data: Buffer[] = [];
    try {
      const end = this.chunks.read(piece, at, (part) => {
        data.push(part);
        return true;
      });
      this.passChunk(data);
      if (this.chunks.isDone) {
        this.sink.pass(LAST_CHUNK);
        if (this.state === "chunked") this.endMessage();
      }
      return end;
    } catch (error) {
      if (!(error instanceof ChunkError)) throw error;
      this.passChunk(data);
      this.breakBody(error.message);
      return piece.length;
    }
  }

  /** Data of many small chunks is one chunk for Node's parser, which calls a function for each. */
  private passChunk(data: readonly Buffer[]): void {
    const bytes = data.reduce((sum, { length }) => sum + length, 0);
    if (bytes === 0) return;
    const size = Buffer.from(`${bytes.toString(16)}\r\n`, "latin1");
    this.sink.pass(Buffer.concat([size, ...data, LAST_CHUNK.subarray(1, 3)]));
  }

  private breakBody(why: string): void {
    this.state = "deaf";
    this.sink.onBrokenBody(why);
  }

  private forgetHead(): void {
    this.headBytes = 0;
    this.requestLine = undefined;
    this.fields = [];
    if (this.lines.waiting > 0) this.lines.take();
  }

  private newFieldLines(): FieldLines {
    return new FieldLines({
      onField: (name, value) => {
        if (this.fields.length >= MAX_FIELDS) {
          throw new RefusedRequestError(headTooLarge(`a head of more than ${MAX_FIELDS} fields`));
        }
        this.fields.push([name, value]);
      },
      malformed: (message) => new RefusedRequestError(malformed(message)),
    });
  }
}
