// Decodes strings in HPACK's Huffman code.

import { CODE, ConnectionError } from "../frames/http2-errors.js";
import { CODE_LENGTHS } from "./huffman-lengths.js";

const END_OF_STRING = 256;
const LONGEST = 30;

/** The codes of one length. */
interface Row {
  readonly bits: number;
  /** Below it, at LONGEST bits, are the codes of this length and of all shorter ones. */
  readonly below: number;
  /** The first code of this length. */
  readonly first: number;
  readonly symbols: readonly number[];
}

/** By length, shortest first: short codes are the frequent ones. */
const ROWS: readonly Row[] = rows();

function rows(): Row[] {
  const all: Row[] = [];
  let code = 0;
  for (let bits = 1; bits <= LONGEST; bits++) {
    code *= 2;
    const symbols = CODE_LENGTHS.flatMap((length, symbol) => (length === bits ? [symbol] : []));
    if (symbols.length === 0) continue;
    const first = code;
    code += symbols.length;
    all.push({ bits, first, symbols, below: code * 2 ** (LONGEST - bits) });
  }
  return all;
}

/**
 * The bytes of the string, as Latin-1. Its length is at most 8/5 of that of the code.
 * @throws ConnectionError for padding that is not the beginning of the end-of-string code, and for that code itself
 */
export function decodeHuffman(code: Buffer): string {
  const bytes = Buffer.allocUnsafe(Math.floor((code.length * 8) / 5));
  let length = 0;
  /** The bits that were read but not decoded, at most LONGEST + 7 of them. */
  let waiting = 0;
  let count = 0;
  let offset = 0;
  for (;;) {
    while (count <= LONGEST && offset < code.length) {
      waiting = waiting * 256 + code.readUInt8(offset++);
      count += 8;
    }
    // Ones follow the end of the string: its padding, then, is no symbol but the one that must not occur.
    const window =
      count >= LONGEST ? Math.floor(waiting / 2 ** (count - LONGEST)) : (waiting + 1) * 2 ** (LONGEST - count) - 1;
    const row = rowOf(window);
    if (row.bits > count) break;
    const symbol = row.symbols[Math.floor(window / 2 ** (LONGEST - row.bits)) - row.first] ?? END_OF_STRING;
    if (symbol === END_OF_STRING) throw broken("the end of the string is encoded");
    bytes[length++] = symbol;
    count -= row.bits;
    waiting %= 2 ** count;
  }
  if (count > 7 || waiting !== 2 ** count - 1) throw broken("the padding is not that of the end of the string");
  return bytes.toString("latin1", 0, length);
}

function rowOf(window: number): Row {
  for (const row of ROWS) if (window < row.below) return row;
  throw broken("no symbol has this code");
}

function broken(why: string): ConnectionError {
  return new ConnectionError(CODE.COMPRESSION_ERROR, `a string in the Huffman code: ${why}`);
}
