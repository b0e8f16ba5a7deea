// Headers of a peer's SPDY streams. All blocks of a connection are one zlib stream, each flushed to whole bytes. Each
// block is inflated by itself, with the text before it as dictionary. So no decompressor lives as long as the
// connection.
// Invariant: one block is inflated to at most 64 KiB.

import { constants, inflateRawSync } from "node:zlib";
import { DICTIONARY } from "./dictionary.js";
import { SpdyError } from "./frames.js";

/** zlib's head, and the Adler-32 of the preset dictionary. */
const ZLIB_HEAD = 6;
/** Deflate refers at most this far back. */
const WINDOW = 32 * 1024;
const MAX_PLAIN = 64 * 1024;

export class SpdyHeaderReader {
  private window = DICTIONARY;
  private isFirst = true;

  /** Every block of the connection must be read, in order. Names are in lower case. @throws SpdyError */
  read(block: Buffer): Map<string, string> {
    const body = this.isFirst ? block.subarray(ZLIB_HEAD) : block;
    if (body.length > 0) this.isFirst = false;
    const plain = this.inflate(body);
    this.window = Buffer.from(Buffer.concat([this.window, plain]).subarray(-WINDOW));
    return pairsOf(plain);
  }

  private inflate(body: Buffer): Buffer {
    if (body.length === 0) return body;
    try {
      return inflateRawSync(body, {
        dictionary: this.window,
        finishFlush: constants.Z_SYNC_FLUSH,
        maxOutputLength: MAX_PLAIN,
      });
    } catch (error) {
      throw new SpdyError("a block of headers that cannot be decompressed", { cause: error });
    }
  }
}

/** Number of pairs, then name and value of each with their lengths. */
function pairsOf(plain: Buffer): Map<string, string> {
  const pairs = new Map<string, string>();
  if (plain.length === 0) return pairs;
  let at = 0;
  const number = (): number => {
    if (plain.length < at + 4) throw new SpdyError("a block of headers that ends too early");
    at += 4;
    return plain.readUInt32BE(at - 4);
  };
  const text = (): string => {
    const length = number();
    if (plain.length < at + length) throw new SpdyError("a block of headers that ends too early");
    at += length;
    return plain.toString("utf8", at - length, at);
  };
  for (let left = number(); left > 0; left--) {
    const name = text();
    pairs.set(name.toLowerCase(), text());
  }
  return pairs;
}
