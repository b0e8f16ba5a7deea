// Reads a body in chunks (RFC 9112, section 7.1) with the limits of Go's net/http: chunk lines end with "\r\n" and have at most 4 KiB,
// what is no data is at most 16 KiB more than twice the data, trailers have at most 4 KiB.
import { trimBlanksEnd } from "./bytes.js";
import { HeaderBlock } from "./client/header-block.js";
import { Lines, withoutCr } from "./lines.js";
import { ReplyError } from "./client/reply-error.js";

const MAX_LINE = 4096;
const MAX_EXCESS = 16 * 1024;
const FREE_PER_CHUNK = 16;
export const MAX_TRAILER = 4096;
const NO_FIELDS: ReadonlySet<string> = new Set();

type State = "size" | "data" | "data-end" | "trailer" | "done";

export class Chunks {
  private readonly lines = new Lines();
  private state: State = "size";
  private left = 0;
  /** Bytes of the "\r\n" after a chunk's data that were read. */
  private ended = 0;
  private excess = 0;
  private trailer = "";

  get isDone(): boolean {
    return this.state === "done";
  }

  /** Takes the piece from `at` on; gives each part of the data. Returns where it stopped. Throws ReplyError. */
  read(piece: Buffer, at: number, onData: (data: Buffer) => void): void {
    let position = at;
    while (position < piece.length && this.state !== "done") {
      switch (this.state) {
        case "size":
          position = this.readSize(piece, position);
          break;
        case "data": {
          const end = Math.min(piece.length, position + this.left);
          onData(piece.subarray(position, end));
          this.left -= end - position;
          position = end;
          if (this.left === 0) this.state = "data-end";
          break;
        }
        case "data-end":
          if (piece[position] !== (this.ended === 0 ? 0x0d : 0x0a)) throw broken("malformed chunked encoding");
          position++;
          this.ended = (this.ended + 1) % 2;
          if (this.ended === 0) this.state = "size";
          break;
        case "trailer":
          position = this.readTrailer(piece, position);
          break;
      }
    }
  }

  /** No more bytes come. Throws ReplyError unless the body is whole. */
  end(): void {
    if (this.state === "done") return;
    if (this.state !== "trailer") throw broken("unexpected EOF");
    throw broken(
      this.trailer.length < 2
        ? "http: unexpected EOF reading trailer"
        : "http: suspiciously long trailer after chunked body",
    );
  }

  private readSize(piece: Buffer, at: number): number {
    const found = this.lines.next(piece, at);
    if ((found?.line.length ?? this.lines.waiting) >= MAX_LINE) throw broken("header line too long");
    if (found === undefined) return piece.length;
    const { line, next } = found;
    const cr = line.indexOf("\r");
    if (cr < 0) throw broken("chunked line ends with bare LF");
    if (cr !== line.length - 1) throw broken("invalid CR in chunked line");
    const size = sizeOf(line.slice(0, -1));
    this.excess = Math.max(0, this.excess + line.length + 1 - FREE_PER_CHUNK - 2 * size);
    if (this.excess > MAX_EXCESS) throw broken("chunked encoding contains too much non-data");
    this.left = size;
    this.state = size === 0 ? "trailer" : "data";
    return next;
  }

  /** Fields until the empty line. They are checked, and not kept. */
  private readTrailer(piece: Buffer, at: number): number {
    // Longer pieces than the limit need not be read.
    const end = Math.min(piece.length, at + MAX_TRAILER + 4);
    this.trailer += piece.toString("latin1", at, end);
    if (this.trailer.startsWith("\r\n")) {
      this.state = "done";
      return piece.length;
    }
    const blank = this.trailer.indexOf("\r\n\r\n");
    if (blank < 0 || blank + 4 > MAX_TRAILER) {
      if (this.trailer.length >= MAX_TRAILER) throw broken("http: suspiciously long trailer after chunked body");
      return end;
    }
    const block = new HeaderBlock(NO_FIELDS);
    try {
      for (const line of this.trailer.slice(0, blank + 4).split("\n")) if (block.line(withoutCr(line))) break;
    } catch (error) {
      throw error instanceof ReplyError ? broken(error.message) : error;
    }
    this.state = "done";
    return piece.length;
  }
}

/** The size in a chunk's line; extensions after ";" mean nothing. */
function sizeOf(line: string): number {
  const [digits = ""] = trimBlanksEnd(line).split(";");
  if (digits === "") throw broken("empty hex number for chunk length");
  if (!/^[0-9a-fA-F]+$/.test(digits.slice(0, 17))) throw broken("invalid byte in chunk length");
  if (digits.length > 16) throw broken("http chunk length too large");
  return Number.parseInt(digits, 16);
}

const broken = (message: string): ReplyError => new ReplyError("body", message);
