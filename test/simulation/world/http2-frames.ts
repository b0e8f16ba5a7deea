// Frames of HTTP/2 between the prober and a server of the simulated machine (RFC 9113, section 4.1). The payload of
// headers is JSON in place of HPACK.

export const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
export const DATA = 0;
export const HEADERS = 1;
export const SETTINGS = 4;

const HEAD_BYTES = 9;
const END_STREAM = 1;

export interface Frame {
  type: number;
  payload: Buffer;
  /** Its sender sends nothing more on the stream. */
  isLast: boolean;
}

export function frameBytes(type: number, payload: Buffer | Record<string, string>, isLast = false): Buffer {
  const body = Buffer.isBuffer(payload) ? payload : Buffer.from(JSON.stringify(payload));
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUIntBE(body.length, 0, 3);
  head[3] = type;
  head[4] = isLast ? END_STREAM : 0;
  return Buffer.concat([head, body]);
}

/** Frames of a connection, from bytes as they come. */
export class FrameReader {
  private rest: Buffer = Buffer.alloc(0);

  read(bytes: Buffer): Frame[] {
    this.rest = Buffer.concat([this.rest, bytes]);
    const frames: Frame[] = [];
    while (this.rest.length >= HEAD_BYTES) {
      const end = HEAD_BYTES + this.rest.readUIntBE(0, 3);
      if (this.rest.length < end) break;
      const isLast = this.rest[4] === END_STREAM;
      frames.push({ type: this.rest[3] ?? 0, payload: this.rest.subarray(HEAD_BYTES, end), isLast });
      this.rest = this.rest.subarray(end);
    }
    return frames;
  }
}
