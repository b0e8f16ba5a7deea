// Walks the tokens of a JSON text in their order, with their places. For what JSON.parse does not tell: digits, and
// keys that are there twice.
// Invariant: one pass in linear time; no token is cut out of the text. The text must be JSON (JSON.parse has taken it).

import { closingQuote } from "./nesting.js";

export interface JsonVisitor {
  /** A map or list begins, as a value. */
  open(isMap: boolean): void;
  close(): void;
  /** A member's name: its place, with the quotes. */
  key(start: number, end: number): void;
  /** A string that is a value. */
  text(start: number, end: number): void;
  /** A number, true, false or null. */
  word(start: number, end: number): void;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_MAP = 0x7b;
const CLOSE_MAP = 0x7d;
const SPACE = 0x20;

export function walkJson(text: string, visitor: JsonVisitor): void {
  /** Whether each open value is a map. */
  const maps: boolean[] = [];
  let expectsKey = false;
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at);
    switch (code) {
      case QUOTE: {
        const end = Math.min(closingQuote(text, at) + 1, text.length);
        if (expectsKey) visitor.key(at, end);
        else visitor.text(at, end);
        expectsKey = false;
        at = end;
        continue;
      }
      case COMMA:
        expectsKey = maps.at(-1) === true;
        break;
      case COLON:
        break;
      case OPEN_MAP:
      case OPEN_LIST:
        expectsKey = code === OPEN_MAP;
        maps.push(expectsKey);
        visitor.open(expectsKey);
        break;
      case CLOSE_MAP:
      case CLOSE_LIST:
        expectsKey = false;
        maps.pop();
        visitor.close();
        break;
      default:
        if (code > SPACE) {
          const end = endOfWord(text, at);
          visitor.word(at, end);
          at = end;
          continue;
        }
    }
    at += 1;
  }
}

function endOfWord(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length) {
    const code = text.charCodeAt(end);
    if (code <= SPACE || code === COMMA || code === CLOSE_MAP || code === CLOSE_LIST) break;
    end += 1;
  }
  return end;
}
