// Reads the response to one GET from bytes that arrive in pieces, as Go's net/http does
// (https://pkg.go.dev/net/http#ReadResponse), for servers that Node's parser refuses: lines that end with "\n", folded
// or repeated fields, odd versions, bytes after the body.
//
//   status line ──► fields ──► 1xx: status line again │ body ──► complete
//
// Invariant: bytes of the head, and of the body that is kept, are bounded; of the fields only those with a meaning here
// are kept.

import { quoteBytes } from "../bytes.js";
import { ChunkError, Chunks } from "../chunks.js";
import { Lines, withoutCr } from "../lines.js";
import { FRAMING_FIELDS, framingOf, type Framing } from "./body-framing.js";
import { HeaderBlock } from "./header-block.js";
import { HeadLimitError, ReplyError } from "./reply-error.js";

/** Bytes of the head with all informational ones before it. Go's client reads 10 MB. */
export const MAX_HEAD_BYTES = 512 * 1024;

export interface ReplyHead {
  status: number;
  /** Text after the status code. */
  reason: string;
  /** The first value of a kept field, a byte string; undefined if it is absent. */
  field(name: string): string | undefined;
}

export interface ReplyLimits {
  /** The body is complete once so many bytes of it are here. */
  bodyBytes: number;
  /** Canonical names of fields that the caller reads from the head. */
  fields: readonly string[];
}

export class ReplyReader {
  private readonly lines = new Lines();
  private readonly kept: ReadonlySet<string>;
  private statusLine: StatusLine | undefined;
  private header: HeaderBlock;
  private headBytes = 0;
  private framing: Framing | undefined;
  private left = 0;
  private chunks: Chunks | undefined;
  private readonly pieces: Buffer[] = [];
  private size = 0;
  private final: ReplyHead | undefined;
  private isWhole = false;

  constructor(private readonly limits: ReplyLimits) {
    this.kept = new Set([...FRAMING_FIELDS, ...limits.fields]);
    this.header = new HeaderBlock(this.kept);
  }

  /** Set once the final response's head is here. */
  get head(): ReplyHead | undefined {
    return this.final;
  }

  /** A byte of the head is here. */
  get hasBegun(): boolean {
    return this.headBytes > 0;
  }

  /** The body has ended, or enough of it is here. Further bytes mean nothing. */
  get isComplete(): boolean {
    return this.isWhole;
  }

  /** What is here of the body. */
  body(): Buffer {
    return Buffer.concat(this.pieces);
  }

  /** Throws ReplyError. */
  feed(piece: Buffer): void {
    let at = 0;
    while (this.framing === undefined && at < piece.length) at = this.readLine(piece, at);
    const { framing } = this;
    if (framing !== undefined && at < piece.length && !this.isWhole) inBody(() => this.readBody(framing, piece, at));
  }

  /** The server sends no more. Throws ReplyError unless that ends the body. */
  end(): void {
    if (this.isWhole) return;
    switch (this.framing?.kind) {
      case undefined:
        this.endHead();
        break;
      case "until-close":
        this.isWhole = true;
        break;
      case "chunked":
        inBody(() => this.chunks?.end());
        break;
      case "length":
      case "none":
        throw new ReplyError("body", "unexpected EOF");
    }
  }

  private readLine(piece: Buffer, at: number): number {
    const found = this.lines.next(piece, at);
    const next = found?.next ?? piece.length;
    this.headBytes += next - at;
    if (this.headBytes > MAX_HEAD_BYTES) {
      throw new HeadLimitError(MAX_HEAD_BYTES);
    }
    if (found === undefined) return next;
    const line = withoutCr(found.line);
    if (this.statusLine === undefined) this.statusLine = parseStatusLine(line);
    else if (this.header.line(line)) this.headEnded(this.statusLine);
    return next;
  }

  private headEnded({ status, reason, version }: StatusLine): void {
    const { header } = this;
    const framing = framingOf(status, version, header);
    if (status >= 100 && status <= 199 && status !== 101) {
      this.statusLine = undefined;
      this.header = new HeaderBlock(this.kept);
      return;
    }
    this.final = { status, reason, field: (name) => header.all(name)?.[0] };
    this.framing = framing;
    if (framing.kind === "none") this.isWhole = true;
    else if (framing.kind === "length") this.left = framing.bytes;
    else if (framing.kind === "chunked") this.chunks = new Chunks();
  }

  private readBody(framing: Framing, piece: Buffer, at: number): void {
    switch (framing.kind) {
      case "none":
        break;
      case "length": {
        const data = piece.subarray(at, at + Math.min(piece.length - at, this.left));
        this.left -= data.length;
        this.keep(data);
        if (this.left === 0) this.isWhole = true;
        break;
      }
      case "until-close":
        this.keep(piece.subarray(at));
        break;
      case "chunked":
        this.chunks?.read(piece, at, (data) => this.keep(data));
        if (this.chunks?.isDone === true) this.isWhole = true;
        break;
    }
  }

  /** Returns false when a part was more than is wanted: what follows it in the piece is not read. */
  private keep(data: Buffer): boolean {
    const wanted = data.subarray(0, this.limits.bodyBytes - this.size);
    if (wanted.length > 0) this.pieces.push(wanted);
    this.size += wanted.length;
    if (this.size >= this.limits.bodyBytes) this.isWhole = true;
    return wanted.length === data.length;
  }

  /** A line without its end is a line, too; then what follows is missing. */
  private endHead(): void {
    if (this.headBytes === 0) throw new ReplyError("head", "EOF");
    const line = this.lines.take();
    if (this.statusLine === undefined && line !== "") parseStatusLine(line);
    else if (this.statusLine === undefined) throw new ReplyError("head", "unexpected EOF");
    else if (line === "" || !this.header.line(line)) this.header.end();
    throw new ReplyError("head", "unexpected EOF");
  }
}

function inBody(read: () => void): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof ChunkError)) throw error;
    throw new ReplyError("body", error.message, { cause: error });
  }
}

interface StatusLine {
  status: number;
  reason: string;
  /** "1.1" */
  version: string;
}

function parseStatusLine(line: string): StatusLine {
  const space = line.indexOf(" ");
  if (space < 0) throw new ReplyError("head", `malformed HTTP response ${quoteBytes(line)}`);
  const rest = line.slice(space).replace(/^ +/, "");
  const [code = ""] = rest.split(" ", 1);
  if (!/^(?:[0-9]{3}|\+[0-9]{2}|-00)$/.test(code)) {
    throw new ReplyError("head", `malformed HTTP status code ${quoteBytes(code)}`);
  }
  const version = /^HTTP\/([0-9]\.[0-9])$/.exec(line.slice(0, space))?.[1];
  if (version === undefined) throw new ReplyError("head", `malformed HTTP version ${quoteBytes(line.slice(0, space))}`);
  return { status: Math.abs(Number(code)), reason: rest.slice(code.length).trimStart(), version };
}
