// A strict reader of DER. What it cannot read in exactly one way is refused: OpenSSL also reads BER, and both must see
// the same keys.

export const TAG = { integer: 0x02, bits: 0x03, oid: 0x06, sequence: 0x30, version: 0xa0 } as const;

/** Reads the elements of one content, in order. */
export class DerReader {
  private at = 0;

  constructor(private readonly bytes: Buffer) {}

  get isAtEnd(): boolean {
    return this.at >= this.bytes.length;
  }

  /** The tag of the next element; undefined at the end. */
  get tag(): number | undefined {
    return this.bytes[this.at];
  }

  /**
   * The content of the next element, which must have this tag.
   * @throws SyntaxError
   */
  read(tag: number): Buffer {
    if (this.tag !== tag) throw new SyntaxError(`expected the tag ${tag}, found ${this.tag ?? "the end"}`);
    const [length, start] = this.length(this.at + 1);
    const end = start + length;
    if (end > this.bytes.length) throw new SyntaxError("an element is longer than its content");
    this.at = end;
    return this.bytes.subarray(start, end);
  }

  /** The definite length in its shortest form, and where the content begins. */
  private length(at: number): [length: number, start: number] {
    const first = this.byte(at);
    if (first < 0x80) return [first, at + 1];
    const size = first - 0x80;
    // 1 to 3 bytes: 16 MiB.
    if (size < 1 || size > 3) throw new SyntaxError("a length of this form is not allowed");
    let length = 0;
    for (let i = 1; i <= size; i++) length = length * 256 + this.byte(at + i);
    if (length < (size === 1 ? 0x80 : 256 ** (size - 1))) throw new SyntaxError("a length is not in its shortest form");
    return [length, at + 1 + size];
  }

  private byte(at: number): number {
    const byte = this.bytes[at];
    if (byte === undefined) throw new SyntaxError("an element ends too early");
    return byte;
  }
}
