// The secrets that one part of a support bundle has shown by their names, to be masked wherever else they stand. One
// object per bundle.

import { MASK } from "./mask-text.js";

/** Shorter ones are words, too. */
const MIN_LENGTH = 8;
const MAX_LENGTH = 4096;
const MAX_SECRETS = 500;

export class Secrets {
  private readonly values = new Set<string>();

  add(value: string): void {
    if (value.length < MIN_LENGTH || value.length > MAX_LENGTH || this.values.size >= MAX_SECRETS) return;
    this.values.add(value);
    // As JSON has it in a string.
    const escaped = JSON.stringify(value).slice(1, -1);
    if (escaped !== value) this.values.add(escaped);
  }

  /** The longest first: one may be the beginning of another. */
  mask(text: string): string {
    const longest = [...this.values].sort((a, b) => b.length - a.length);
    return longest.reduce((all, value) => all.replaceAll(value, MASK), text);
  }
}
