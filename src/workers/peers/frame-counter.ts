// Counts the HTTP/2 frames of a server before the session reads them (RFC 9113, section 4.1). A response has less than
// twenty.

import { PeerLimitError } from "./guarded-source.js";

export const MAX_FRAMES = 256;
/** All bytes of a gRPC connection: a response of OUTPUT_LIMIT_BYTES, headers, trailers, settings. */
export const MAX_BYTES = 64 * 1024;
const HEAD_BYTES = 9;
const DATA = 0;

export interface FrameLimits {
  /** All bytes of the connection. */
  bytes: number;
  /** Frames with data beyond MAX_FRAMES; a server may send its body byte by byte. */
  dataFrames: number;
}

export class FrameCounter {
  private frames = 0;
  private dataFrames = 0;
  private bytes = 0;
  /** Bytes of the frame's head that were read. */
  private head = 0;
  private length = 0;
  private type = 0;
  /** Bytes of the payload that are still to come. */
  private left = 0;

  constructor(private readonly limits: FrameLimits) {}

  /** Throws PeerLimitError when the server has sent too much with this piece. */
  read(piece: Buffer): void {
    const { bytes } = this.limits;
    this.bytes += piece.length;
    if (this.bytes > bytes) throw new PeerLimitError(`the server sent more than ${bytes} bytes`);
    for (let at = 0; at < piece.length;) {
      if (this.left > 0) {
        const skipped = Math.min(this.left, piece.length - at);
        this.left -= skipped;
        at += skipped;
        continue;
      }
      if (this.head < 3) this.length = (this.length << 8) | (piece[at] ?? 0);
      if (this.head === 3) this.type = piece[at] ?? 0;
      at++;
      this.head++;
      if (this.head === HEAD_BYTES) this.countFrame();
    }
  }

  private countFrame(): void {
    if (this.type === DATA && this.length > 0 && this.dataFrames < this.limits.dataFrames) this.dataFrames++;
    else this.frames++;
    if (this.frames > MAX_FRAMES) throw new PeerLimitError(`the server sent more than ${MAX_FRAMES} HTTP/2 frames`);
    this.left = this.length;
    this.head = 0;
    this.length = 0;
  }
}
