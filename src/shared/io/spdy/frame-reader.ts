// SPDY/3.1 frames as their bytes arrive: control frames whole, because they are small, data in parts. Invariant: a
// frame of any length costs no more memory than a control frame may have.

import { FLAG_FIN, FRAME_HEAD, SpdyError, VERSION } from "./frames.js";

export interface SpdyFrameEvents {
  /** @param fin the stream ends with this part, which may be empty */
  onData(stream: number, part: Buffer, fin: boolean): void;
  onControl(kind: number, flags: number, payload: Buffer): void;
}

/** Headers are what control frames are longest with; no client sends any. */
const MAX_CONTROL = 16 * 1024;

export class SpdyFrameReader {
  private readonly head = Buffer.alloc(FRAME_HEAD);
  private have = 0;
  /** Bytes of the frame that are still to come; undefined: its head is. */
  private left: number | undefined;
  private readonly control: Buffer[] = [];

  constructor(private readonly events: SpdyFrameEvents) {}

  /** @throws SpdyError */
  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.left === undefined) {
        const part = chunk.subarray(at, at + FRAME_HEAD - this.have);
        part.copy(this.head, this.have);
        at += part.length;
        this.have += part.length;
        if (this.have === FRAME_HEAD) this.begin();
      } else {
        const part = chunk.subarray(at, at + this.left);
        at += part.length;
        this.pass(part);
      }
    }
  }

  private get isControl(): boolean {
    return (this.head.readUInt8(0) & 0x80) !== 0;
  }

  private begin(): void {
    this.have = 0;
    this.left = this.head.readUIntBE(5, 3);
    if (this.isControl) {
      const version = this.head.readUInt16BE(0) & 0x7fff;
      if (version !== VERSION) throw new SpdyError(`a frame of SPDY version ${version}; only version 3 is supported`);
      if (this.left > MAX_CONTROL) throw new SpdyError(`a control frame of ${this.left} bytes`);
    }
    if (this.left === 0) this.pass(Buffer.alloc(0));
  }

  private pass(part: Buffer): void {
    const left = (this.left ?? 0) - part.length;
    this.left = left === 0 ? undefined : left;
    const flags = this.head.readUInt8(4);
    if (!this.isControl) {
      this.events.onData(this.head.readUInt32BE(0), part, left === 0 && (flags & FLAG_FIN) !== 0);
      return;
    }
    this.control.push(part);
    if (left > 0) return;
    const payload = Buffer.concat(this.control.splice(0));
    this.events.onControl(this.head.readUInt16BE(2), flags, payload);
  }
}
