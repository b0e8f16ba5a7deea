// Keys without "?": what turns out to be a key only by the ":" after it. A key is on one line and has at most 1024
// characters.

import type { Cursor } from "./cursor.js";

const MAX_KEY = 1024;

export interface SimpleKey {
  /** Where the key begins. */
  position: number;
  column: number;
  lineStart: number;
  /** The number of its first token in the stream. */
  token: number;
  /** No other node than a key can begin here: the ":" must come. */
  required: boolean;
  /** The ":" may still come. */
  possible: boolean;
}

interface Level {
  key: SimpleKey | undefined;
  /** Number of the first token of the level's last key; before there was one, of the level itself. */
  token: number;
}

/** One possible key for each level of flow collections, and one outside of them. */
export class SimpleKeys {
  private readonly outer: Level = { key: undefined, token: 0 };
  private readonly flow: Level[] = [];
  private readonly byToken = new Map<number, SimpleKey>();

  constructor(private readonly cursor: Cursor) {}

  private get level(): Level {
    return this.flow.at(-1) ?? this.outer;
  }

  /** The current level's key that is still possible. Throws if a required one is not. */
  current(): SimpleKey | undefined {
    const { key } = this.level;
    return key !== undefined && this.isPossible(key) ? key : undefined;
  }

  /** True while a key may begin with the token of that number. */
  mayBeginAt(tokenNumber: number): boolean {
    const key = this.byToken.get(tokenNumber);
    return key !== undefined && this.isPossible(key);
  }

  save(begin: Omit<SimpleKey, "possible">): void {
    this.remove();
    const key = { ...begin, possible: true };
    this.level.key = key;
    this.level.token = key.token;
    this.byToken.set(key.token, key);
  }

  /** Nothing after this can make a key of it. Throws if it had to be one. */
  remove(): void {
    const { key } = this.level;
    if (key?.possible !== true) return;
    if (key.required) this.failRequired(key);
    this.use(key);
  }

  /** The ":" came: it is a key. */
  use(key: SimpleKey): void {
    key.possible = false;
    this.byToken.delete(key.token);
  }

  enterFlow(token: number): void {
    this.flow.push({ key: undefined, token });
  }

  /** For an empty flow collection go-yaml forgets that itself may be a key: its tokens are no longer held back. */
  leaveFlow(): void {
    const level = this.flow.pop();
    if (level !== undefined) this.byToken.delete(level.token);
  }

  private isPossible(key: SimpleKey): boolean {
    if (!key.possible) return false;
    if (key.lineStart === this.cursor.lineStart && !this.isTooLong(key)) return true;
    if (key.required) this.failRequired(key);
    key.possible = false;
    return false;
  }

  private isTooLong(key: SimpleKey): boolean {
    const { position, text } = this.cursor;
    if (position - key.position <= MAX_KEY) return false;
    // Characters outside of the basic plane are two units of the text.
    let characters = 0;
    for (let index = key.position; index < position; index++) {
      if ((text.charCodeAt(index) & 0xfc00) !== 0xdc00) characters += 1;
      if (characters > MAX_KEY) return true;
    }
    return false;
  }

  private failRequired(key: SimpleKey): never {
    this.cursor.fail('a line in a map must be a key followed by ":" and a space', key.position);
  }
}
