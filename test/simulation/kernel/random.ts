// Random numbers that a seed repeats. Each part of the world draws from a stream of its own, so that a draw more in one
// part does not change the others.

import { fnv32 } from "../../../src/shared/base/hash/fnv32.js";

export class Random {
  private state: number;

  constructor(private readonly seed: number) {
    this.state = seed | 0;
  }

  /** A stream of the same seed, for the part of that name. */
  stream(name: string): Random {
    return new Random(fnv32(`${this.seed}/${name}`));
  }

  /** In [0, 1). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from 0 to `end` - 1. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  /** From `least` to `most`. */
  between(least: number, most: number): number {
    return least + this.next() * (most - least);
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new RangeError("nothing to pick from");
    return item;
  }

  bytes(length: number): Buffer {
    const bytes = Buffer.alloc(length);
    for (let at = 0; at < length; at++) bytes[at] = this.below(256);
    return bytes;
  }
}
