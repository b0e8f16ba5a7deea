// gRPC's frames: each message behind a flag for compression and its length.
// Invariant: a message longer than the limit is refused by its prefix, before any of it is kept.
import { CallFailedError } from "./status.js";

const PREFIX_BYTES = 5;

export function frameOf(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(PREFIX_BYTES + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, PREFIX_BYTES);
  return frame;
}

/** Cuts what arrives into messages. */
export class FrameReader {
  private chunks: Buffer[] = [];
  private bytes = 0;

  constructor(private readonly maxBytes: number) {}

  /** The messages that are whole now; most replies come in one chunk, which is then not copied. @throws CallFailedError */
  push(chunk: Buffer): Buffer[] {
    this.chunks.push(chunk);
    this.bytes += chunk.length;
    const messages: Buffer[] = [];
    for (;;) {
      const length = this.nextLength();
      if (length === undefined || this.bytes < PREFIX_BYTES + length) return messages;
      const all = this.joined(PREFIX_BYTES + length);
      messages.push(all.subarray(PREFIX_BYTES, PREFIX_BYTES + length));
      this.chunks[0] = all.subarray(PREFIX_BYTES + length);
      this.bytes -= PREFIX_BYTES + length;
    }
  }

  private nextLength(): number | undefined {
    if (this.bytes < PREFIX_BYTES) return undefined;
    const head = this.joined(PREFIX_BYTES);
    if (head[0] !== 0)
      throw new CallFailedError("INTERNAL", "the runtime's answer is compressed, which was not asked for");
    const length = head.readUInt32BE(1);
    if (length > this.maxBytes) {
      const details = `the runtime's answer has ${length} bytes, more than ${this.maxBytes}`;
      throw new CallFailedError("RESOURCE_EXHAUSTED", details);
    }
    return length;
  }

  /** A first chunk of at least that many bytes. */
  private joined(bytes: number): Buffer {
    const [first] = this.chunks;
    if (first !== undefined && first.length >= bytes) return first;
    const all = Buffer.concat(this.chunks);
    this.chunks = [all];
    return all;
  }
}
