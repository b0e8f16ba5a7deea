// A stream of bytes cut into frames: a length of four bytes, then so many bytes. Watches in protobuf come so.

import { ObjectBlocks, type OnOversized } from "./oversized.js";

const HEAD = 4;
/** A longer frame is an error: a stream that claims one is no watch. */
const FRAME_LIMIT = 64 * 1024 * 1024;

/** Blocks in, whole frames out, without their length. Frames that are too large are skipped. */
export class FrameCutter {
  private head = Buffer.alloc(0);
  /** Bytes that the current frame still needs; undefined: its length is not read yet. */
  private left: number | undefined;
  private readonly parts = new ObjectBlocks();

  constructor(private readonly onOversized: OnOversized = () => undefined) {}

  /** @throws RangeError */
  *push(block: Buffer): Generator<Buffer> {
    let rest = block;
    while (rest.length > 0) {
      if (this.left === undefined) rest = this.readHead(rest);
      if (this.left === undefined) return;
      if (rest.length < this.left) {
        this.left -= rest.length;
        if (rest.length > 0) this.parts.push(rest);
        return;
      }
      const frame = this.parts.take(rest.subarray(0, this.left));
      rest = rest.subarray(this.left);
      this.left = undefined;
      if (frame === undefined) this.onOversized(this.parts.head);
      else yield frame;
    }
  }

  private readHead(block: Buffer): Buffer {
    const missing = HEAD - this.head.length;
    this.head = Buffer.concat([this.head, block.subarray(0, missing)]);
    if (this.head.length < HEAD) return block.subarray(missing);
    this.left = this.head.readUInt32BE(0);
    this.head = Buffer.alloc(0);
    if (this.left > FRAME_LIMIT) throw new RangeError(`a frame of more than ${FRAME_LIMIT / 1024 / 1024} MiB`);
    return block.subarray(missing);
  }
}
