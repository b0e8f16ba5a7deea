// Reads a body in chunks (RFC 9112, section 7.1) with the limits of Go's net/http: chunk lines end with "\r\n" and have
// at most 4 KiB, what is no data is at most 16 KiB more than twice the data, trailers have at most 4 KiB.

import { trimBlanksEnd } from "./bytes.js";
import { FieldLines } from "./field-lines.js";
import { Lines, withoutCr } from "./lines.js";

const MAX_LINE = 4096;
const MAX_EXCESS = 16 * 1024;
const FREE_PER_CHUNK = 16;
export const MAX_TRAILER = 4096;

/** The body is no body in chunks, or breaks off. */
export class ChunkError extends Error {
  override readonly name = "ChunkError";
}

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

  /**
   * Takes the piece from `at` on; gives each part of the data, until `onData` returns false. Returns where it stopped:
   * behind the body, once that is done. Throws ChunkError.
   */
  read(piece: Buffer, at: number, onData: (data: Buffer) => boolean): number {
    let position = at;
    while (position < piece.length && this.state !== "done") {
      switch (this.state) {
        case "size":
          position = this.readSize(piece, position);
          break;
        case "data": {
          const end = Math.min(piece.length, position + this.left);
          const wantsMore = onData(piece.subarray(position, end));
          this.left -= end - position;
          position = end;
          if (this.left === 0) this.state = "data-end";
          if (!wantsMore) return position;
          break;
        }
        case "data-end":
          if (piece[position] !== (this.ended === 0 ? 0x0d : 0x0a)) throw new ChunkError("malformed chunked encoding");
          position++;
          this.ended = (this.ended + 1) % 2;
          if (this.ended === 0) this.state = "size";
          break;
        case "trailer":
          position = this.readTrailer(piece, position);
          break;
      }
    }
    return position;
  }

  /** No more bytes come. Throws ChunkError unless the body is whole. */
  end(): void {
    if (this.state === "done") return;
    if (this.state !== "trailer") throw new ChunkError("unexpected EOF");
    throw new ChunkError(
      this.trailer.length < 2
        ? "http: unexpected EOF reading trailer"
        : "http: suspiciously long trailer after chunked body",
    );
  }

  private readSize(piece: Buffer, at: number): number {
    const found = this.lines.next(piece, at);
    if ((found?.line.length ?? this.lines.waiting) >= MAX_LINE) throw new ChunkError("header line too long");
    if (found === undefined) return piece.length;
    const { line, next } = found;
    const cr = line.indexOf("\r");
    if (cr < 0) throw new ChunkError("chunked line ends with bare LF");
    if (cr !== line.length - 1) throw new ChunkError("invalid CR in chunked line");
    const size = sizeOf(line.slice(0, -1));
    this.excess = Math.max(0, this.excess + line.length + 1 - FREE_PER_CHUNK - 2 * size);
    if (this.excess > MAX_EXCESS) throw new ChunkError("chunked encoding contains too much non-data");
    this.left = size;
    this.state = size === 0 ? "trailer" : "data";
    return next;
  }

  /** Fields until the empty line. They are checked, and not kept. */
  private readTrailer(piece: Buffer, at: number): number {
    const before = this.trailer.length;
    // Longer pieces than the limit need not be read.
    const end = Math.min(piece.length, at + MAX_TRAILER + 4);
    this.trailer += piece.toString("latin1", at, end);
    if (this.trailer.startsWith("\r\n")) {
      this.state = "done";
      return at + 2 - before;
    }
    const blank = this.trailer.indexOf("\r\n\r\n");
    if (blank < 0 || blank + 4 > MAX_TRAILER) {
      if (this.trailer.length >= MAX_TRAILER)
        throw new ChunkError("http: suspiciously long trailer after chunked body");
      return end;
    }
    let behind = 0;
    const fields = new FieldLines({ onField: () => undefined, malformed: (message) => new ChunkError(message) });
    for (const line of this.trailer.slice(0, blank + 4).split("\n")) {
      behind += line.length + 1;
      if (fields.line(withoutCr(line))) break;
    }
    this.state = "done";
    return at + behind - before;
  }
}

/** The size in a chunk's line; extensions after ";" mean nothing. */
function sizeOf(line: string): number {
  const [digits = ""] = trimBlanksEnd(line).split(";");
  if (digits === "") throw new ChunkError("empty hex number for chunk length");
  if (!/^[0-9a-fA-F]+$/.test(digits.slice(0, 17))) throw new ChunkError("invalid byte in chunk length");
  if (digits.length > 16) throw new ChunkError("http chunk length too large");
  return Number.parseInt(digits, 16);
}
