// Cuts the peer's bytes into frames, however they arrive.
// Invariant: it keeps at most one frame. A longer one than we allow is refused by its head, before its bytes are kept.

import { DEFAULT_FRAME_BYTES, HEAD_BYTES, type Frame } from "./frame-types.js";
import { CODE, ConnectionError } from "./http2-errors.js";

export class FrameReader {
  readonly #onFrame: (frame: Frame) => void;
  /** The beginning of a frame whose end has not arrived. Made for the first such frame. */
  #kept: Buffer | undefined;
  #length = 0;

  constructor(onFrame: (frame: Frame) => void) {
    this.#onFrame = onFrame;
  }

  /**
   * Calls `onFrame` for each frame that is complete. `bytes` may be reused afterwards.
   * @throws ConnectionError for a frame that is too long; and what `onFrame` throws
   */
  push(bytes: Buffer): void {
    let offset = 0;
    if (this.#length > 0) offset = this.#complete(bytes);
    while (bytes.length - offset >= HEAD_BYTES) {
      const end = offset + HEAD_BYTES + payloadLength(bytes, offset);
      if (end > bytes.length) break;
      this.#onFrame(frameAt(bytes, offset, end));
      offset = end;
    }
    if (offset < bytes.length) this.#keep(bytes, offset, bytes.length);
  }

  /** Completes the kept frame. Returns the offset of the next one. */
  #complete(bytes: Buffer): number {
    let offset = 0;
    if (this.#length < HEAD_BYTES) offset = this.#keep(bytes, 0, HEAD_BYTES - this.#length);
    const kept = this.#kept;
    if (kept === undefined || this.#length < HEAD_BYTES) return offset;
    const total = HEAD_BYTES + payloadLength(kept, 0);
    offset = this.#keep(bytes, offset, offset + total - this.#length);
    if (this.#length < total) return offset;
    this.#length = 0;
    this.#onFrame(frameAt(kept, 0, total));
    return offset;
  }

  /** Returns the offset behind what it kept. */
  #keep(bytes: Buffer, from: number, to: number): number {
    const kept = (this.#kept ??= Buffer.allocUnsafeSlow(HEAD_BYTES + DEFAULT_FRAME_BYTES));
    const copied = bytes.copy(kept, this.#length, from, Math.min(to, bytes.length));
    this.#length += copied;
    return from + copied;
  }
}

function payloadLength(bytes: Buffer, offset: number): number {
  const length = bytes.readUIntBE(offset, 3);
  if (length <= DEFAULT_FRAME_BYTES) return length;
  throw new ConnectionError(
    CODE.FRAME_SIZE_ERROR,
    `a frame of ${length} bytes, with at most ${DEFAULT_FRAME_BYTES} allowed`,
  );
}

function frameAt(bytes: Buffer, offset: number, end: number): Frame {
  return {
    type: bytes.readUInt8(offset + 3),
    flags: bytes.readUInt8(offset + 4),
    stream: bytes.readUInt32BE(offset + 5) & 0x7fffffff,
    payload: bytes.subarray(offset + HEAD_BYTES, end),
  };
}
