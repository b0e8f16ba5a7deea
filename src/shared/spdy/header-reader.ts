// Headers of a peer's SPDY streams. All blocks of a connection are one zlib stream, each flushed to whole bytes. Each
// block is inflated by itself, with the text before it as dictionary. So no decompressor lives as long as the
// connection.
// Invariant: one block is inflated to at most 64 KiB.
import { constants, inflateRawSync } from "node:zlib";
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

// The preset dictionary of SPDY/3's header compression: data of the protocol, of which both sides must have the same bytes.
// Source: draft-mbelshe-httpbis-spdy-00, section 2.6.10.1.

const WORDS =
  "options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow " +
  "authorization cache-control connection content-base content-encoding content-language content-length content-location " +
  "content-md5 content-range content-type date etag expect expires from host if-match if-modified-since if-none-match " +
  "if-range if-unmodified-since last-modified location max-forwards pragma proxy-authenticate proxy-authorization range " +
  "referer retry-after server te trailer transfer-encoding upgrade user-agent vary via warning www-authenticate method get " +
  "status 200_OK version HTTP/1.1 url public set-cookie keep-alive origin";
const TEXT =
  "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505203 " +
  "Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden404 Not " +
  "Found500 Internal Server Error501 Not Implemented503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec " +
  "00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,application/xml," +
  "application/xhtml+xml,text/plain,text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1," +
  "utf-,*,enq=0.";

/** Each word follows its length; "_" is a space. @internal */
export const DICTIONARY = Buffer.concat([
  ...WORDS.split(" ").map((word) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(word.length);
    return Buffer.concat([length, Buffer.from(word.replace("_", " "))]);
  }),
  Buffer.from(TEXT),
]);
