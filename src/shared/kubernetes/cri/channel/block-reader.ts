// Joins a HEADERS frame with its CONTINUATION frames.
// Invariant: a block has at most MAX_BLOCK_BYTES in at most MAX_CONTINUATIONS further frames; no other frame comes
// between.

import { FLAG, TYPE, type Frame } from "./frames/frame-types.js";
import { CODE, ConnectionError } from "./frames/http2-errors.js";
import { withoutPadding } from "./padding.js";

/** Bytes of one block of fields, as they are sent. */
export const MAX_BLOCK_BYTES = 64 * 1024;

/** Frames behind the first one of a block. */
export const MAX_CONTINUATIONS = 16;

export interface Block {
  readonly stream: number;
  /** The last frame of the peer on this stream. */
  readonly isEnd: boolean;
  readonly bytes: Buffer;
}

export class BlockReader {
  #open: { stream: number; isEnd: boolean; parts: Buffer[]; bytes: number } | undefined;

  /**
   * Looks at every frame.
   * @returns the block that the frame completes; "part" of one; undefined: the frame has nothing to do with blocks
   * @throws ConnectionError
   */
  read(frame: Frame): Block | "part" | undefined {
    if (frame.type === TYPE.HEADERS) return this.#first(frame);
    if (frame.type === TYPE.CONTINUATION) return this.#next(frame);
    if (this.#open !== undefined) throw interrupted();
    return undefined;
  }

  #first(frame: Frame): Block | "part" {
    if (this.#open !== undefined) throw interrupted();
    const bytes = withoutPriority(frame);
    const isEnd = (frame.flags & FLAG.END_STREAM) !== 0;
    if ((frame.flags & FLAG.END_HEADERS) !== 0) return { stream: frame.stream, isEnd, bytes };
    this.#open = { stream: frame.stream, isEnd, parts: [Buffer.from(bytes)], bytes: bytes.length };
    return "part";
  }

  #next({ stream, flags, payload }: Frame): Block | "part" {
    const open = this.#open;
    if (open === undefined || open.stream !== stream) throw interrupted();
    open.parts.push(Buffer.from(payload));
    open.bytes += payload.length;
    if (open.bytes > MAX_BLOCK_BYTES || open.parts.length > 1 + MAX_CONTINUATIONS) {
      throw new ConnectionError(
        CODE.ENHANCE_YOUR_CALM,
        `a block of fields with more than ${MAX_BLOCK_BYTES} bytes or ${MAX_CONTINUATIONS} continuations`,
      );
    }
    if ((flags & FLAG.END_HEADERS) === 0) return "part";
    this.#open = undefined;
    return { stream, isEnd: open.isEnd, bytes: Buffer.concat(open.parts) };
  }
}

function withoutPriority(frame: Frame): Buffer {
  const bytes = withoutPadding(frame);
  if ((frame.flags & FLAG.PRIORITY) === 0) return bytes;
  if (bytes.length < 5) throw new ConnectionError(CODE.FRAME_SIZE_ERROR, "a HEADERS frame without its priority");
  return bytes.subarray(5);
}

function interrupted(): ConnectionError {
  return new ConnectionError(CODE.PROTOCOL_ERROR, "a block of fields is interrupted, or continued without a beginning");
}
