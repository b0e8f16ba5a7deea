// Cuts a YAML 1.1 text into tokens, by the rules that go-yaml follows where the specification leaves a choice.

import { scanBlockScalar } from "./block-scalar.js";
import { BYTE_ORDER_MARK, codes, isBlank, isBlankOrEnd, isBreak } from "./characters.js";
import type { Cursor } from "./cursor.js";
import { scanPlain, scanQuoted } from "./flow-scalars.js";
import { scanAnchor, scanDirective, scanTag } from "./properties.js";
import { SimpleKeys } from "./simple-keys.js";
import { token, type Token, type TokenType } from "./tokens.js";
import { YamlError } from "./yaml-error.js";

/** Levels of flow collections, and of block collections, as go-yaml limits each. */
const MAX_LEVELS = 10_000;

/** No plain scalar begins with these. */
const INDICATORS = codes("-?:,[]{}#&*!|>'\"%@`");
const FLOW_TOKENS: Readonly<Record<string, TokenType>> = {
  "[": "flow list start",
  "{": "flow map start",
  "]": "flow list end",
  "}": "flow map end",
};

export class Scanner {
  private queue: Token[] = [];
  private head = 0;
  /** Tokens that were taken; the number of the next one. */
  private taken = 0;
  private readonly keys: SimpleKeys;
  private keyAllowed = true;
  private flowLevel = 0;
  private indent = -1;
  private readonly indents: number[] = [];
  /** Nothing of the document has been read yet. */
  private atDocumentStart = true;
  private documents = 0;

  constructor(private readonly cursor: Cursor) {
    this.keys = new SimpleKeys(cursor);
  }

  /** Throws YamlError. */
  peek(): Token {
    // What may begin a key waits for its ":", since tokens are inserted before it.
    while (this.head === this.queue.length || this.keys.mayBeginAt(this.taken)) this.scanNext();
    return this.queue[this.head] as Token;
  }

  take(): Token {
    const next = this.peek();
    this.head += 1;
    this.taken += 1;
    if (this.head > 256) {
      this.queue = this.queue.slice(this.head);
      this.head = 0;
    }
    return next;
  }

  private scanNext(): void {
    const { cursor } = this;
    this.skipToToken();
    this.closeBlocks(cursor.column);
    cursor.need(4);
    const code = cursor.code();
    if (code === 0) {
      this.endStream();
      return;
    }
    if (cursor.column === 0 && code === 0x25) {
      this.leaveBlocks();
      this.add(scanDirective(cursor));
      return;
    }
    if (cursor.atDocumentMarker()) {
      this.leaveBlocks();
      this.addIndicator(code === 0x2d ? "document start" : "document end", 3);
      if (!this.atDocumentStart) this.documents += 1;
      this.atDocumentStart = true;
      return;
    }
    this.atDocumentStart = false;
    this.scanNode(code);
  }

  private scanNode(code: number): void {
    const { cursor } = this;
    const inFlow = this.flowLevel > 0;
    const beforeBlank = isBlankOrEnd(cursor.code(1));
    const character = String.fromCharCode(code);
    if (character === "[" || character === "{") this.startFlow(FLOW_TOKENS[character] as TokenType);
    else if (character === "]" || character === "}") this.endFlow(FLOW_TOKENS[character] as TokenType);
    else if (character === ",") {
      this.keys.remove();
      this.keyAllowed = true;
      this.addIndicator("flow entry");
    } else if (character === "-" && beforeBlank) this.scanEntry();
    else if (character === "?" && (inFlow || beforeBlank)) this.scanKey();
    else if (character === ":" && (inFlow || beforeBlank)) this.scanValue();
    else if (character === "*" || character === "&") this.addKeyable(() => scanAnchor(cursor));
    else if (character === "!") this.addKeyable(() => scanTag(cursor));
    else if ((character === "|" || character === ">") && !inFlow) {
      this.keys.remove();
      this.keyAllowed = true;
      this.add(scanBlockScalar(cursor, this.indent));
    } else if (character === "'" || character === '"') this.addKeyable(() => scanQuoted(cursor));
    else if (this.beginsPlain(code)) this.addKeyable(() => this.plainScalar());
    else cursor.fail(`the character ${JSON.stringify(character)} cannot begin a value; put the text in quotes`);
  }

  private beginsPlain(code: number): boolean {
    if (!INDICATORS.has(code)) return !isBlank(code);
    const next = this.cursor.code(1);
    if (code === 0x2d) return !isBlank(next);
    return this.flowLevel === 0 && (code === 0x3f || code === 0x3a) && !isBlankOrEnd(next);
  }

  private plainScalar(): Token {
    const { token: scalar, onNextLine } = scanPlain(this.cursor, this.flowLevel > 0, this.indent + 1);
    if (onNextLine) this.keyAllowed = true;
    return scalar;
  }

  private skipToToken(): void {
    const { cursor } = this;
    for (;;) {
      cursor.need(1);
      if (cursor.code() === BYTE_ORDER_MARK && this.mayHaveMark()) cursor.skip();
      // Where a key may begin in block context, a tab would be indentation.
      const tabs = this.flowLevel > 0 || !this.keyAllowed;
      while (cursor.code() === 0x20 || (tabs && cursor.code() === 0x09)) cursor.skip();
      cursor.need(1);
      cursor.skipComment();
      if (!isBreak(cursor.code())) return;
      cursor.need(2);
      cursor.readBreak();
      if (this.flowLevel === 0) this.keyAllowed = true;
    }
  }

  /** Files that were put together may each have a byte order mark. */
  private mayHaveMark(): boolean {
    const { column, position } = this.cursor;
    return column === 0 && this.atDocumentStart && (position === 0 || this.documents > 0);
  }

  private endStream(): void {
    const { cursor } = this;
    // A key must not end with the stream: what follows counts as another line.
    if (cursor.column !== 0) cursor.lineStart = cursor.position;
    this.leaveBlocks();
    this.addIndicator("stream end", 0);
  }

  private leaveBlocks(): void {
    this.closeBlocks(-1);
    this.keys.remove();
    this.keyAllowed = false;
  }

  private startFlow(type: TokenType): void {
    const number = this.nextNumber();
    this.saveKey();
    this.keys.enterFlow(number);
    this.flowLevel += 1;
    if (this.flowLevel > MAX_LEVELS) this.failTooDeep();
    this.keyAllowed = true;
    this.addIndicator(type);
  }

  private endFlow(type: TokenType): void {
    this.keys.remove();
    if (this.flowLevel > 0) {
      this.keys.leaveFlow();
      this.flowLevel -= 1;
    }
    this.keyAllowed = false;
    this.addIndicator(type);
  }

  private scanEntry(): void {
    const { cursor } = this;
    if (this.flowLevel === 0) {
      if (!this.keyAllowed) cursor.fail('a list item ("- ") cannot begin here');
      this.openBlock(cursor.column, "block list start", cursor.position);
    }
    this.keys.remove();
    this.keyAllowed = true;
    this.addIndicator("entry");
  }

  private scanKey(): void {
    const { cursor } = this;
    if (this.flowLevel === 0) {
      if (!this.keyAllowed) cursor.fail('a key ("? ") cannot begin here');
      this.openBlock(cursor.column, "block map start", cursor.position);
    }
    this.keys.remove();
    this.keyAllowed = this.flowLevel === 0;
    this.addIndicator("key");
  }

  private scanValue(): void {
    const { cursor } = this;
    const key = this.keys.current();
    if (key !== undefined) {
      this.insert(token("key", key.position, key.position), key.token);
      this.openBlock(key.column, "block map start", key.position, key.token);
      this.keys.use(key);
      this.keyAllowed = false;
    } else {
      if (this.flowLevel === 0) {
        if (!this.keyAllowed) cursor.fail('a value (": ") cannot begin here; put a text with ": " in quotes');
        this.openBlock(cursor.column, "block map start", cursor.position);
      }
      this.keyAllowed = this.flowLevel === 0;
    }
    this.addIndicator("value");
  }

  /** A token that may be, or begin, a key. */
  private addKeyable(scan: () => Token): void {
    this.saveKey();
    this.keyAllowed = false;
    this.add(scan());
  }

  private saveKey(): void {
    if (!this.keyAllowed) return;
    const { column, lineStart, position } = this.cursor;
    const required = this.flowLevel === 0 && this.indent === column;
    this.keys.save({ position, column, lineStart, required, token: this.nextNumber() });
  }

  /** A block collection begins if the column is beyond that of the current one. */
  private openBlock(column: number, type: TokenType, position: number, before?: number): void {
    if (this.flowLevel > 0 || this.indent >= column) return;
    this.indents.push(this.indent);
    this.indent = column;
    if (this.indents.length > MAX_LEVELS) this.failTooDeep();
    const start = token(type, position, position);
    if (before === undefined) this.add(start);
    else this.insert(start, before);
  }

  private closeBlocks(column: number): void {
    if (this.flowLevel > 0) return;
    while (this.indent > column) {
      this.addIndicator("block end", 0);
      this.indent = this.indents.pop() ?? -1;
    }
  }

  private add(next: Token): void {
    this.queue.push(next);
  }

  /** Before the token of that number; behind all if it was taken. */
  private insert(next: Token, number: number): void {
    if (number < this.taken) this.add(next);
    else this.queue.splice(this.head + number - this.taken, 0, next);
  }

  /** The number of the token that is added next. */
  private nextNumber(): number {
    return this.taken + this.queue.length - this.head;
  }

  private addIndicator(type: TokenType, length = 1): void {
    const { position } = this.cursor;
    this.cursor.skip(length);
    this.add(token(type, position, position + length));
  }

  private failTooDeep(): never {
    throw new YamlError(`nested more than ${MAX_LEVELS} levels deep`, this.cursor.position, true);
  }
}
