// Several ranges of a file as one body of multipart/byteranges (RFC 9110, section 14.6), in the form of Go's file
// server. Nothing but the range at hand is in memory.

import { randomBytes } from "node:crypto";
import type { ByteRange } from "./byte-ranges.js";

const BOUNDARY_BYTES = 30;

export interface MultipartBody {
  readonly contentType: string;
  readonly length: number;
  /** `read` yields the bytes of one range. */
  chunks(read: (range: ByteRange) => AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array>;
}

/** @param of type and size of the whole file */
export function multipartBody(ranges: readonly ByteRange[], of: { type: string; size: number }): MultipartBody {
  const boundary = randomBytes(BOUNDARY_BYTES).toString("hex");
  const headOf = ({ start, end }: ByteRange, index: number): string =>
    `${index === 0 ? "" : "\r\n"}--${boundary}\r\n` +
    `Content-Range: bytes ${start}-${end - 1}/${of.size}\r\nContent-Type: ${of.type}\r\n\r\n`;
  const close = `\r\n--${boundary}--\r\n`;
  const length = ranges.reduce((sum, range, index) => sum + headOf(range, index).length + range.end - range.start, 0);
  return {
    contentType: `multipart/byteranges; boundary=${boundary}`,
    length: length + close.length,
    async *chunks(read) {
      for (const [index, range] of ranges.entries()) {
        yield Buffer.from(headOf(range, index));
        yield* read(range);
      }
      yield Buffer.from(close);
    },
  };
}
