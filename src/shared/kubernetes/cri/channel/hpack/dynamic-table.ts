// The fields that the peer's encoder refers to by number (RFC 7541, section 2.3.2).
// Invariant: the sum of the entries' sizes is at most the limit, which the peer may lower but not raise above ours.

import type { Field } from "./static-table.js";

/** Bytes that we allow: the protocol's default, and the largest size of the table in either direction. */
export const MAX_TABLE_BYTES = 4096;

/** RFC 7541's size of a field in a table and in a list. */
export function sizeOf({ name, value }: Field): number {
  return name.length + value.length + 32;
}

export class DynamicTable {
  /** The newest is the last. */
  readonly #fields: Field[] = [];
  #bytes = 0;
  #limit = MAX_TABLE_BYTES;

  /** @param age 0 for the newest */
  get(age: number): Field | undefined {
    return this.#fields[this.#fields.length - 1 - age];
  }

  /** A field that is larger than the table empties it. */
  add(field: Field): void {
    const size = sizeOf(field);
    this.#shrinkTo(this.#limit - size);
    if (size > this.#limit) return;
    this.#fields.push(field);
    this.#bytes += size;
  }

  /** @param limit at most MAX_TABLE_BYTES */
  setLimit(limit: number): void {
    this.#limit = limit;
    this.#shrinkTo(limit);
  }

  #shrinkTo(bytes: number): void {
    while (this.#bytes > bytes) {
      const oldest = this.#fields.shift();
      if (oldest === undefined) return;
      this.#bytes -= sizeOf(oldest);
    }
  }
}
