// An encoder that uses all that HPACK has, as a test chooses: for the properties of our decoder, which meets only what
// its peers send.

import { CODE_LENGTHS } from "../../../../../src/shared/kubernetes/cri/channel/hpack/huffman-lengths.js";
import { STATIC_TABLE, type Field } from "../../../../../src/shared/kubernetes/cri/channel/hpack/static-table.js";

/** How one field is sent. */
export interface Choice {
  readonly form: "indexed" | "added" | "literal" | "never";
  readonly useIndexOfName: boolean;
  readonly useHuffman: boolean;
  /** Bytes of a change of the table's size before the block. */
  readonly resize?: number;
}

const CODES: readonly string[] = codes();

function codes(): string[] {
  const all: string[] = [];
  let code = 0n;
  for (let bits = 1; bits <= 30; bits++) {
    code *= 2n;
    CODE_LENGTHS.forEach((length, symbol) => {
      if (length === bits) all[symbol] = (code++).toString(2).padStart(bits, "0");
    });
  }
  return all;
}

export function huffman(text: string): Buffer {
  const bits = [...Buffer.from(text, "latin1")].map((byte) => CODES[byte] ?? "").join("");
  const padded = bits.padEnd(Math.ceil(bits.length / 8) * 8, "1");
  return Buffer.from((padded.match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2)));
}

export class TestEncoder {
  /** Newest first, as HPACK counts. */
  private table: Field[] = [];
  private limit = 4096;

  encode(fields: readonly Field[], choices: readonly Choice[]): Buffer {
    const parts: Buffer[] = [];
    const resize = choices[0]?.resize;
    if (resize !== undefined) {
      parts.push(integer(0x20, 5, resize));
      this.limit = resize;
      this.evict();
    }
    fields.forEach((field, position) => {
      const choice = choices[position % choices.length];
      if (choice !== undefined) parts.push(this.field(field, choice));
    });
    return Buffer.concat(parts);
  }

  private field(field: Field, { form, useIndexOfName, useHuffman }: Choice): Buffer {
    const all = [...STATIC_TABLE, ...this.table];
    const same = all.findIndex(({ name, value }) => name === field.name && value === field.value);
    if (form === "indexed" && same >= 0) return integer(0x80, 7, same + 1);
    const named = useIndexOfName ? all.findIndex(({ name }) => name === field.name) : -1;
    const isAdded = form === "added" || form === "indexed";
    const pattern = isAdded ? 0x40 : form === "never" ? 0x10 : 0;
    const name = named < 0 ? [string(field.name, useHuffman)] : [];
    if (isAdded) {
      this.table.unshift(field);
      this.evict();
    }
    return Buffer.concat([integer(pattern, isAdded ? 6 : 4, named + 1), ...name, string(field.value, useHuffman)]);
  }

  private evict(): void {
    const size = (): number => this.table.reduce((sum, { name, value }) => sum + name.length + value.length + 32, 0);
    while (size() > this.limit) this.table.pop();
  }
}

function string(text: string, useHuffman: boolean): Buffer {
  const bytes = useHuffman ? huffman(text) : Buffer.from(text, "latin1");
  return Buffer.concat([integer(useHuffman ? 0x80 : 0, 7, bytes.length), bytes]);
}

export function integer(pattern: number, bits: number, value: number): Buffer {
  const most = 2 ** bits - 1;
  if (value < most) return Buffer.from([pattern | value]);
  const bytes = [pattern | most];
  let rest = value - most;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}
