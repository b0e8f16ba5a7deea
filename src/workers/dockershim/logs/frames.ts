// The output of docker's log and attach endpoints. Without a terminal it has frames of one stream each, with a terminal
// it is plain bytes. Frame: stream (1 byte: 1 output, 2 error), three zero bytes, length (4 bytes, big-endian),
// payload. Source: https://docs.docker.com/reference/api/engine/ ("Attach to a container", stream format)
// Invariant: at most one frame's head is kept between two chunks; payloads pass in parts, however long the frame.

export type StreamName = "stdout" | "stderr";

export interface FrameEvents {
  /** @param last the frame ends with this part */
  onData(stream: StreamName, part: Buffer, last: boolean): void;
}

const HEAD_BYTES = 8;

export class FrameReader {
  private readonly head = Buffer.alloc(HEAD_BYTES);
  private have = 0;
  private left = 0;

  constructor(private readonly events: FrameEvents) {}

  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.left === 0) {
        const part = chunk.subarray(at, at + HEAD_BYTES - this.have);
        part.copy(this.head, this.have);
        this.have += part.length;
        at += part.length;
        if (this.have < HEAD_BYTES) return;
        this.have = 0;
        this.left = this.head.readUInt32BE(4);
      } else {
        const part = chunk.subarray(at, at + this.left);
        at += part.length;
        this.left -= part.length;
        this.events.onData(this.head.readUInt8(0) === 2 ? "stderr" : "stdout", part, this.left === 0);
      }
    }
  }
}
