// Cuts the JSON of a list into its items while it arrives. So a large list is parsed item by item, never as a whole.
// Invariant: for every cut of the bytes, the result or failure equals that of JSON.parse for the whole. The cutter
// finds boundaries only; JSON.parse checks the text between them.

import { ObjectBlocks, SHELL_LIMIT, type OnOversized } from "./oversized.js";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENS = new Set([0x7b, 0x5b]);
const CLOSES = new Set([0x7d, 0x5d]);
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const COLON = 0x3a;
const COMMA = 0x2c;
const SPACES = new Set([0x20, 0x09, 0x0a, 0x0d]);
const KEY = Buffer.from('"items"');
/** A key of this length is not one of the API's. */
const KEY_LIMIT = 16;

/** Takes a list's bytes block by block. Items that are too large are skipped. */
export class ListCutter {
  /** The bytes outside of the items, as they came. */
  private readonly shell: Buffer[] = [];
  private shellSize = 0;
  /** Bytes of the item at hand that came in earlier blocks. */
  private readonly parts = new ObjectBlocks();
  private depth = 0;
  private inItems = false;
  /** Commas in the list of items so far. */
  private commas = 0;
  private inString = false;
  private escaped = false;
  /** The string last begun at the top level, with its quotes; "" elsewhere. */
  private word: number[] = [];
  private readsWord = false;
  private afterKey = false;

  constructor(private readonly onOversized: OnOversized = () => undefined) {}

  /**
   * Items as bytes, each the text of one JSON value.
   * @throws RangeError when the list has more around its items than any list has
   */
  *push(block: Buffer): Generator<Buffer> {
    let start = 0;
    for (let at = 0; at < block.length; at++) {
      if (this.inString) {
        at = this.passString(block, at);
        continue;
      }
      const byte = block[at] ?? 0;
      if (this.inItems && this.depth === 2 && (byte === COMMA || byte === CLOSE_LIST)) {
        const item = this.parts.take(block.subarray(start, at));
        const isLast = byte === CLOSE_LIST;
        if (item === undefined) this.onOversized(this.parts.head);
        else if (!isLast || this.commas > 0 || !isBlank(item)) yield item;
        start = isLast ? at : at + 1;
        this.commas += 1;
        if (isLast) this.leave();
        continue;
      }
      if (this.passMark(byte)) {
        this.keepShell(block.subarray(start, at + 1));
        start = at + 1;
      }
    }
    if (start === block.length) return;
    if (this.inItems) this.parts.push(block.subarray(start));
    else this.keepShell(block.subarray(start));
  }

  /** The list without its items: "items" is empty there. Half an item makes it no JSON. */
  rest(): Buffer {
    return Buffer.concat([...this.shell, this.parts.take(Buffer.alloc(0)) ?? Buffer.from("{")]);
  }

  /** @returns true where the items begin */
  private passMark(byte: number): boolean {
    if (byte === QUOTE) {
      this.inString = true;
      this.readsWord = this.depth === 1;
      this.word = this.readsWord ? [QUOTE] : [];
      this.afterKey = false;
      return false;
    }
    if (SPACES.has(byte)) return false;
    const opensItems = byte === OPEN_LIST && this.depth === 1 && this.afterKey;
    this.afterKey = byte === COLON && this.depth === 1 && KEY.equals(Buffer.from(this.word));
    if (OPENS.has(byte)) this.depth += 1;
    else if (CLOSES.has(byte)) this.depth -= 1;
    if (!opensItems) return false;
    this.inItems = true;
    this.commas = 0;
    return true;
  }

  /** @returns the last index that was read */
  private passString(block: Buffer, from: number): number {
    for (let at = from; at < block.length; at++) {
      const byte = block[at] ?? 0;
      if (this.readsWord && this.word.length < KEY_LIMIT) this.word.push(byte);
      if (this.escaped) {
        this.escaped = false;
      } else if (byte === BACKSLASH) {
        this.escaped = true;
      } else if (byte === QUOTE) {
        this.inString = false;
        return at;
      }
    }
    return block.length;
  }

  private keepShell(part: Buffer): void {
    this.shell.push(part);
    this.shellSize += part.length;
    if (this.shellSize > SHELL_LIMIT)
      throw new RangeError(`more than ${SHELL_LIMIT / 1024 / 1024} MiB around the items`);
  }

  private leave(): void {
    this.inItems = false;
    this.depth = 1;
    this.word = [];
  }
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => SPACES.has(byte));
}
