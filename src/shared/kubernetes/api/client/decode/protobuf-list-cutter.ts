// Cuts a list in protobuf into its items while it arrives. So a large list is decoded item by item, never as a whole.
// Invariant: wherever it is cut, items and rest are the same; a list that ends early is an error.

import { ENVELOPE, MAGIC, readType } from "../../protobuf/objects.js";
import { DELIMITED, ProtobufDecodeError, Reader, VARINT } from "../../protobuf/reader.js";
import { ObjectBlocks, SHELL_LIMIT, type OnOversized } from "./oversized.js";

const METADATA = 1;
const ITEMS = 2;
/** A field's key has five bytes at most, its length or number ten. */
const HEAD_LIMIT = 15;

type Use = "type" | "metadata" | "item" | "nothing";

/** Takes a list's bytes block by block. Items that are too large are skipped. */
export class ProtobufListCutter {
  private hasMagic = false;
  /** Bytes of a field's key and length that came in earlier blocks. */
  private head: Buffer = Buffer.alloc(0);
  /** The value at hand, and its bytes that are to come. */
  private value: { use: Use; left: number } | undefined;
  private readonly parts = new ObjectBlocks();
  /** Bytes of the list that are to come; undefined outside of it. */
  private listLeft: number | undefined;
  private hadList = false;
  private shellSize = 0;
  private type: { apiVersion: string; kind: string } | undefined;
  private metadata: Buffer = Buffer.alloc(0);

  constructor(private readonly onOversized: OnOversized = () => undefined) {}

  /**
   * Items as bytes, each one message.
   * @throws ProtobufDecodeError, or RangeError when the list has more around its items than any list has
   */
  *push(block: Buffer): Generator<Buffer> {
    let rest = block;
    while (rest.length > 0 || this.value?.left === 0) {
      if (this.value === undefined) {
        rest = this.readHead(rest);
        continue;
      }
      const { use, left } = this.value;
      const part = rest.subarray(0, left);
      if (this.listLeft !== undefined) this.listLeft -= part.length;
      rest = rest.subarray(part.length);
      if (part.length < left) {
        this.value.left -= part.length;
        this.parts.push(part);
        return;
      }
      this.value = undefined;
      if (this.listLeft === 0) this.listLeft = undefined;
      const bytes = this.parts.take(part);
      if (use !== "item") this.keep(use, bytes);
      else if (bytes === undefined) this.onOversized(this.parts.head);
      else yield bytes;
    }
  }

  /** The bytes around the items. @throws ProtobufDecodeError when the list is not whole */
  rest(): { kind: string; metadata: Buffer } {
    const isWhole = this.hadList && this.listLeft === undefined && this.value === undefined && this.head.length === 0;
    if (!isWhole || this.type === undefined) throw new ProtobufDecodeError("the list is cut off");
    return { kind: this.type.kind, metadata: this.metadata };
  }

  private keep(use: Use, bytes: Buffer = Buffer.alloc(0)): void {
    this.shellSize += bytes.length;
    if (this.shellSize > SHELL_LIMIT)
      throw new RangeError(`more than ${SHELL_LIMIT / 1024 / 1024} MiB around the items`);
    if (use === "type") this.type = readType(bytes);
    else if (use === "metadata") this.metadata = bytes;
  }

  /** Takes a field's key and length, once they are there. @returns the bytes behind them */
  private readHead(block: Buffer): Buffer {
    const known = this.head.length;
    const limit = this.hasMagic ? Math.min(HEAD_LIMIT, this.listLeft ?? HEAD_LIMIT) : MAGIC.length;
    const begun = block.subarray(0, limit - known);
    const head = known === 0 ? begun : Buffer.concat([this.head, begun]);
    const length = this.hasMagic ? lengthOfHead(head) : MAGIC.length;
    if (length === undefined || length > head.length) {
      if (head.length === limit) throw new ProtobufDecodeError("a field of the list has no length");
      this.head = head;
      return block.subarray(head.length - known);
    }
    this.head = Buffer.alloc(0);
    if (this.hasMagic) this.readFieldHead(new Reader(head), length);
    else if (!head.equals(MAGIC)) throw new ProtobufDecodeError("the list has no envelope");
    this.hasMagic = true;
    return block.subarray(length - known);
  }

  private readFieldHead(reader: Reader, end: number): void {
    const key = reader.uint32(end);
    const wire = key & 7;
    if (wire !== DELIMITED && wire !== VARINT)
      throw new ProtobufDecodeError(`the list has a field of wire type ${wire}`);
    const length = wire === DELIMITED ? reader.uint32(end) : 0;
    if (this.listLeft !== undefined) this.listLeft -= end;
    const number = wire === DELIMITED ? key >>> 3 : 0;
    if (this.listLeft === undefined && number === ENVELOPE.object) {
      this.hadList = true;
      this.listLeft = length === 0 ? undefined : length;
      return;
    }
    if (length > (this.listLeft ?? Infinity)) throw new ProtobufDecodeError("a value is longer than the list");
    this.value = { use: this.useOf(number), left: length };
  }

  private useOf(number: number): Use {
    if (this.listLeft === undefined) return number === ENVELOPE.type ? "type" : "nothing";
    return number === ITEMS ? "item" : number === METADATA ? "metadata" : "nothing";
  }
}

/** undefined: a part of it is missing */
function lengthOfHead(head: Buffer): number | undefined {
  const key = endOfVarint(head, 0);
  return key === undefined ? undefined : endOfVarint(head, key);
}

function endOfVarint(bytes: Buffer, start: number): number | undefined {
  for (let at = start; at < bytes.length; at++) if ((bytes[at] ?? 0) < 0x80) return at + 1;
  return undefined;
}
