// Decodes blocks of fields (RFC 7541). One instance for all blocks of a connection, in the order of their arrival.
// Invariant: the work for a block is linear in its bytes, and what it returns is at most MAX_LIST_BYTES. A longer list
// is decoded to its end, because later blocks refer to its fields, but it is not kept.

import { CODE, ConnectionError } from "../frames/http2-errors.js";
import { DynamicTable, MAX_TABLE_BYTES, sizeOf } from "./dynamic-table.js";
import { decodeHuffman } from "./huffman.js";
import { STATIC_TABLE, type Field } from "./static-table.js";

/** Bytes of the fields of one response or its trailers, by RFC 7541's count. SETTINGS announce it to the runtime. */
export const MAX_LIST_BYTES = 64 * 1024;

export interface FieldList {
  readonly fields: readonly Field[];
  /** The list was longer than MAX_LIST_BYTES; `fields` has its beginning. */
  readonly isCut: boolean;
}

export class HpackDecoder {
  readonly #table = new DynamicTable();
  #block: Buffer = Buffer.alloc(0);
  #offset = 0;

  /** @throws ConnectionError */
  decode(block: Buffer): FieldList {
    this.#block = block;
    this.#offset = 0;
    const fields: Field[] = [];
    let bytes = 0;
    let mayResize = true;
    while (this.#offset < block.length) {
      const first = block.readUInt8(this.#offset);
      if ((first & 0xe0) === 0x20) {
        if (!mayResize) throw broken("the size of the table changes within a block");
        this.#resize();
        continue;
      }
      mayResize = false;
      const field = this.#field(first);
      bytes += sizeOf(field);
      if (bytes <= MAX_LIST_BYTES) fields.push(field);
    }
    return { fields, isCut: bytes > MAX_LIST_BYTES };
  }

  #field(first: number): Field {
    if ((first & 0x80) !== 0) return this.#at(this.#integer(7));
    const isAdded = (first & 0x40) !== 0;
    // Never-indexed literals (0x10) and those that are merely not indexed differ only for proxies.
    const index = this.#integer(isAdded ? 6 : 4);
    const name = index === 0 ? this.#string() : this.#at(index).name;
    const field = { name, value: this.#string() };
    if (isAdded) this.#table.add(field);
    return field;
  }

  #at(index: number): Field {
    const field =
      index <= STATIC_TABLE.length ? STATIC_TABLE[index - 1] : this.#table.get(index - STATIC_TABLE.length - 1);
    if (field === undefined) throw broken(`no field has the number ${index}`);
    return field;
  }

  #resize(): void {
    const bytes = this.#integer(5);
    if (bytes > MAX_TABLE_BYTES) throw broken(`a table of ${bytes} bytes, with at most ${MAX_TABLE_BYTES} allowed`);
    this.#table.setLimit(bytes);
  }

  /** @param bits of the first byte */
  #integer(bits: number): number {
    const most = 2 ** bits - 1;
    let value = this.#byte() & most;
    if (value < most) return value;
    // Four bytes more hold any length that fits into a block.
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.#byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw broken("a number is too large");
  }

  #string(): string {
    if (this.#offset >= this.#block.length) throw broken("it ends within a field");
    const isHuffman = (this.#block.readUInt8(this.#offset) & 0x80) !== 0;
    const length = this.#integer(7);
    const start = this.#offset;
    const end = start + length;
    if (end > this.#block.length) throw broken("it ends within a string");
    this.#offset = end;
    return isHuffman ? decodeHuffman(this.#block.subarray(start, end)) : this.#block.toString("latin1", start, end);
  }

  #byte(): number {
    if (this.#offset >= this.#block.length) throw broken("it ends within a number");
    return this.#block.readUInt8(this.#offset++);
  }
}

function broken(why: string): ConnectionError {
  return new ConnectionError(CODE.COMPRESSION_ERROR, `a block of fields: ${why}`);
}
