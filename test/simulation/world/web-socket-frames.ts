// Frames of a WebSocket at a client's end (RFC 6455).

export const OPCODE = { TEXT: 1, BINARY: 2, CLOSE: 8, PING: 9, PONG: 10 } as const;
const MASK = Buffer.of(1, 2, 3, 4);

/** A frame of the client, with a mask. */
export function clientFrame(opcode: number, payload: Buffer): Buffer {
  const { length } = payload;
  const head = Buffer.alloc(length < 126 ? 2 : 4);
  head[0] = 0x80 | opcode;
  head[1] = 0x80 | Math.min(length, 126);
  if (head.length === 4) head.writeUInt16BE(length, 2);
  return Buffer.concat([head, MASK, payload.map((byte, index) => byte ^ (MASK[index % 4] ?? 0))]);
}

interface Frame {
  opcode: number;
  payload: Buffer;
}

/** Reads frames of a server: whole messages, without masks. */
export class FrameReader {
  private pending = Buffer.alloc(0);

  read(bytes: Buffer): Frame[] {
    this.pending = Buffer.concat([this.pending, bytes]);
    const frames: Frame[] = [];
    for (let frame = this.take(); frame !== undefined; frame = this.take()) frames.push(frame);
    return frames;
  }

  private take(): Frame | undefined {
    const { pending } = this;
    const short = (pending[1] ?? 0) & 0x7f;
    const start = short === 126 ? 4 : short === 127 ? 10 : 2;
    if (pending.length < start) return undefined;
    const length = short === 126 ? pending.readUInt16BE(2) : short === 127 ? Number(pending.readBigUInt64BE(2)) : short;
    if (pending.length < start + length) return undefined;
    this.pending = pending.subarray(start + length);
    return { opcode: (pending[0] ?? 0) & 0x0f, payload: pending.subarray(start, start + length) };
  }
}
