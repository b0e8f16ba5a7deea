// $(NAME) references in environment values, commands and arguments.
// Invariant: the work is linear in any text of a pod's author; the text that references add is bounded.
// Values may refer to values that were expanded before, so that forty lines of environment could mean terabytes.

import { CreateContainerConfigError } from "./container-config-error.js";

const DOLLAR = "$".charCodeAt(0);
const OPEN = "(".charCodeAt(0);

/**
 * Linux starts no process with more than 6 MiB of arguments and environment (three quarters of the 8 MiB of a stack).
 */
export const MAX_SUBSTITUTED = 6 * 1024 * 1024;

/** Characters that expansions may still add to the texts of one container, shared by all texts of one call. */
export class ExpansionBudget {
  #left = MAX_SUBSTITUTED;

  spend(characters: number): void {
    this.#left -= characters;
    if (this.#left >= 0) return;
    throw new CreateContainerConfigError(
      `references like $(NAME) expand to more than ${MAX_SUBSTITUTED} characters: no process can be started with that`,
    );
  }
}

/**
 * Expands references in one pass. "$(NAME)" becomes the value, or stays if `lookup` has no such name; "$$" becomes "$"
 * and is no part of a reference, so "$$(NAME)" becomes "$(NAME)"; every other "$" stays. Values are not expanded again.
 * Throws CreateContainerConfigError when the budget is spent.
 */
export function expand(
  input: string,
  lookup: (name: string) => string | undefined,
  budget = new ExpansionBudget(),
): string {
  if (!input.includes("$")) return input;
  const out = new CharacterBuffer(input.length);
  // A reference that is not closed is plain text. Behind the last bracket no search is made: each would read to the
  // end.
  const lastClose = input.lastIndexOf(")");
  for (let at = 0; at < input.length; at++) {
    const code = input.charCodeAt(at);
    const next = input.charCodeAt(at + 1);
    if (code === DOLLAR && next === DOLLAR) at++;
    if (code === DOLLAR && next === OPEN && at + 1 < lastClose) {
      const close = input.indexOf(")", at + 2);
      const value = lookup(input.slice(at + 2, close));
      if (value !== undefined) budget.spend(value.length);
      out.addText(value ?? input.slice(at, close + 1));
      at = close;
    } else {
      out.add(code);
    }
  }
  return out.toString();
}

/** Grows a text character by character: many times faster than a string that is joined from as many pieces. */
class CharacterBuffer {
  #codes: Uint16Array<ArrayBuffer>;
  #used = 0;

  constructor(characters: number) {
    this.#codes = new Uint16Array(characters);
  }

  add(code: number): void {
    if (this.#used === this.#codes.length) this.#grow(1);
    this.#codes[this.#used++] = code;
  }

  addText(text: string): void {
    if (this.#codes.length - this.#used < text.length) this.#grow(text.length);
    for (let at = 0; at < text.length; at++) this.#codes[this.#used++] = text.charCodeAt(at);
  }

  /** UTF-16 as the processor stores it: nodelet runs on little-endian processors only. */
  toString(): string {
    return Buffer.from(this.#codes.buffer, 0, this.#used * 2).toString("utf16le");
  }

  #grow(characters: number): void {
    const grown = new Uint16Array((this.#codes.length + characters) * 2);
    grown.set(this.#codes);
    this.#codes = grown;
  }
}

/** As `expand`, and lists the unresolved names, for places where an unresolved reference is an error. */
export function expandStrict(
  input: string,
  lookup: (name: string) => string | undefined,
  budget = new ExpansionBudget(),
): { text: string; missing: string[] } {
  const missing: string[] = [];
  const find = (name: string): string | undefined => {
    const value = lookup(name);
    if (value === undefined) missing.push(name);
    return value;
  };
  return { text: expand(input, find, budget), missing };
}
