// Cuts the bytes of a response into messages: each has a byte that says whether it is compressed, and its length in
// four.
// Invariant: what arrived and was not read is in one buffer of at most twice its size, and no larger than the message
// that is not complete. How many frames brought it, or how long the peer says that a message is, costs no memory.

const PREFIX_BYTES = 5;
const FIRST_BYTES = 4096;
/** A message of this size is not copied for the few bytes behind it. */
const LARGE_BYTES = 64 * 1024;

class MessageTooLargeError extends Error {
  override readonly name = "MessageTooLargeError";
  constructor(length: number, most: number) {
    super(`Received message larger than max (${length} vs ${most})`);
  }
}

class CompressedMessageError extends Error {
  override readonly name = "CompressedMessageError";
  constructor() {
    super("Received a compressed message, although the call accepts none");
  }
}

export class MessageReader {
  readonly #maxBytes: number;
  #bytes: Buffer = Buffer.alloc(0);
  #start = 0;
  #end = 0;
  /** #bytes is the socket's: what remains is copied before it reads again. */
  #isBorrowed = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes that arrived and are not part of a message that was read. */
  get held(): number {
    return this.#end - this.#start;
  }

  /** Bytes of memory that it takes. */
  get room(): number {
    return this.#isBorrowed ? this.held : this.#bytes.length;
  }

  /** A whole message is here, or one that `next` refuses. */
  get hasMessage(): boolean {
    if (this.held < PREFIX_BYTES) return false;
    const length = this.#bytes.readUInt32BE(this.#start + 1);
    return length > this.#maxBytes || this.held >= PREFIX_BYTES + length;
  }

  /** `bytes` may be reused after the next `keep`. */
  push(bytes: Buffer): void {
    if (this.held > 0) {
      this.#append(bytes);
      return;
    }
    this.#bytes = bytes;
    this.#start = 0;
    this.#end = bytes.length;
    this.#isBorrowed = true;
  }

  /**
   * The next message, in a buffer of its own; undefined until the rest of it arrives.
   * @throws MessageTooLargeError, CompressedMessageError
   */
  next(): Buffer | undefined {
    if (this.held < PREFIX_BYTES) return undefined;
    const length = this.#bytes.readUInt32BE(this.#start + 1);
    if (length > this.#maxBytes) throw new MessageTooLargeError(length, this.#maxBytes);
    if (this.#bytes.readUInt8(this.#start) !== 0) throw new CompressedMessageError();
    const from = this.#start + PREFIX_BYTES;
    if (this.#end - from < length) return undefined;
    this.#start = from + length;
    const part = this.#bytes.subarray(from, this.#start);
    const rest = this.#bytes.subarray(this.#start, this.#end);
    const isMoved = !this.#isBorrowed && (rest.length === 0 || (length >= LARGE_BYTES && rest.length <= length));
    if (rest.length > 0 && !isMoved) return Buffer.from(part);
    const message = isMoved ? part : Buffer.from(part);
    this.drop();
    if (rest.length > 0) this.#append(rest);
    return message;
  }

  /** Copies what was pushed and not read. */
  keep(): void {
    if (!this.#isBorrowed) return;
    const rest = this.#bytes.subarray(this.#start, this.#end);
    this.drop();
    if (rest.length > 0) this.#append(rest);
  }

  #append(more: Buffer): void {
    this.keep();
    const held = this.held;
    const needed = held + more.length;
    if (this.#bytes.length - this.#end < more.length) {
      const room = needed * 2 <= this.#bytes.length ? this.#bytes : Buffer.allocUnsafeSlow(this.#sizeFor(more, needed));
      this.#bytes.copy(room, 0, this.#start, this.#end);
      this.#bytes = room;
      this.#start = 0;
      this.#end = held;
    }
    this.#end += more.copy(this.#bytes, this.#end);
  }

  /** With room for the rest of the message that is not complete, and for nothing behind it. */
  #sizeFor(more: Buffer, needed: number): number {
    const size = Math.max(FIRST_BYTES, 2 ** Math.ceil(Math.log2(needed)));
    const from = this.held === 0 ? more : this.#bytes.subarray(this.#start, this.#end);
    if (from.length < PREFIX_BYTES) return size;
    const whole = PREFIX_BYTES + from.readUInt32BE(1);
    return whole < needed ? size : Math.min(size, whole);
  }

  /** What arrived is gone. */
  drop(): void {
    this.#bytes = Buffer.alloc(0);
    this.#start = 0;
    this.#end = 0;
    this.#isBorrowed = false;
  }
}

/** A message with its prefix. */
export function withPrefix(message: Buffer): Buffer {
  const framed = Buffer.allocUnsafe(PREFIX_BYTES + message.length);
  framed.writeUInt8(0, 0);
  framed.writeUInt32BE(message.length, 1);
  message.copy(framed, PREFIX_BYTES);
  return framed;
}
