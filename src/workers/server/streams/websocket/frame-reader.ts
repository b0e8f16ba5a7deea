// WebSocket frames as a client sends them (RFC 6455, section 5), read as their bytes come.
// What must hold: messages are never put together, so that one of any size costs no memory; what breaks the rules is refused
// before any of its bytes is passed on.
import { CLOSE_CODE, MAX_CONTROL, OPCODE } from "./frames.js";

/** The client does not speak WebSocket; the connection is closed with `code`. */
export class WebSocketError extends Error {
  override readonly name = "WebSocketError";
  constructor(
    message: string,
    readonly code: number = CLOSE_CODE.PROTOCOL_ERROR,
  ) {
    super(message);
  }
}

/** Where in its message a part is: both are true of a message in one part. */
export interface Place {
  first: boolean;
  last: boolean;
}

export interface FrameEvents {
  /** A part of a message, unmasked, in order; empty ones come where a message is, or ends, with nothing. */
  onData(part: Buffer, place: Place): void;
  onPing(payload: Buffer): void;
  onClose(): void;
}

/** Two bytes, eight of length, four of the mask. */
const MAX_HEAD = 14;
const EMPTY = Buffer.alloc(0);

export class FrameReader {
  private readonly head = Buffer.alloc(MAX_HEAD);
  private have = 0;
  private opcode = 0;
  private fin = false;
  /** Bytes of the frame's payload that are still to come; undefined: its head is. */
  private left: number | undefined;
  /** Where in the mask the next byte is. */
  private masked = 0;
  /** Within a message, and whether a part of it was passed on. */
  private message: "none" | "begun" | "passed" = "none";
  private control: Buffer = EMPTY;

  /** @param text whether messages of text are taken, as bytes */
  constructor(
    private readonly events: FrameEvents,
    private readonly text: boolean,
  ) {}

  /** Changes the chunk: it is unmasked in place. @throws WebSocketError */
  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.left === undefined) {
        this.head[this.have++] = chunk[at++] ?? 0;
        if (this.have === headLength(this.head, this.have)) this.begin();
      } else {
        const part = chunk.subarray(at, at + this.left);
        at += part.length;
        this.left -= part.length;
        this.unmask(part);
        this.pass(part);
      }
    }
  }

  /** The head is whole. */
  private begin(): void {
    const [first = 0, second = 0] = this.head;
    if ((first & 0x70) !== 0) throw new WebSocketError("a frame of an extension that was not agreed to");
    if ((second & 0x80) === 0) throw new WebSocketError("a client's frame that is not masked");
    this.opcode = first & 0x0f;
    this.fin = (first & 0x80) !== 0;
    const length = payloadLength(this.head);
    if (this.opcode >= OPCODE.CLOSE) this.checkControl(length);
    else this.checkData();
    this.masked = 0;
    this.left = length;
    if (length === 0) this.pass(EMPTY);
  }

  private checkControl(length: number): void {
    if (this.opcode > OPCODE.PONG) throw new WebSocketError(`a frame of unknown kind ${this.opcode}`);
    if (!this.fin || length > MAX_CONTROL)
      throw new WebSocketError("a control frame in parts, or of more than 125 bytes");
    if (this.opcode === OPCODE.CLOSE && length === 1) throw new WebSocketError("half a status code");
    this.control = EMPTY;
  }

  private checkData(): void {
    if (this.opcode > OPCODE.BINARY) throw new WebSocketError(`a frame of unknown kind ${this.opcode}`);
    if ((this.opcode === OPCODE.CONTINUATION) === (this.message === "none")) {
      throw new WebSocketError("a message within another, or the rest of none");
    }
    if (this.opcode === OPCODE.TEXT && !this.text) {
      throw new WebSocketError("a message of text where bytes are spoken", CLOSE_CODE.UNSUPPORTED);
    }
    if (this.message === "none") this.message = "begun";
  }

  private unmask(part: Buffer): void {
    const mask = this.head.subarray(this.have - 4, this.have);
    for (let i = 0; i < part.length; i++) part[i] = (part[i] ?? 0) ^ (mask[this.masked++ & 3] ?? 0);
    this.masked &= 3;
  }

  private pass(part: Buffer): void {
    const ended = this.left === 0;
    if (ended) this.reset();
    if (this.opcode >= OPCODE.CLOSE) {
      this.control = this.control.length === 0 ? part : Buffer.concat([this.control, part]);
      if (ended) this.onControl();
      return;
    }
    const place = { first: this.message === "begun", last: ended && this.fin };
    this.message = place.last ? "none" : "passed";
    this.events.onData(part, place);
  }

  private onControl(): void {
    if (this.opcode === OPCODE.PING) this.events.onPing(this.control);
    else if (this.opcode === OPCODE.CLOSE) this.events.onClose();
    this.control = EMPTY;
  }

  private reset(): void {
    this.left = undefined;
    this.have = 0;
  }
}

/** How long the head is that begins so; more than is there while that is not known yet. */
function headLength(head: Buffer, have: number): number {
  if (have < 2) return 2;
  const short = (head[1] ?? 0) & 0x7f;
  const mask = ((head[1] ?? 0) & 0x80) === 0 ? 0 : 4;
  return 2 + (short === 126 ? 2 : short === 127 ? 8 : 0) + mask;
}

function payloadLength(head: Buffer): number {
  const short = (head[1] ?? 0) & 0x7f;
  if (short < 126) return short;
  const length = short === 126 ? head.readUInt16BE(2) : Number(head.readBigUInt64BE(2));
  if (length > Number.MAX_SAFE_INTEGER) throw new WebSocketError("a frame longer than there are bytes");
  return length;
}
