// 32-bit FNV-1a of a text's UTF-8: what upstream puts into its checkpoints and container hashes. A checksum, no
// protection.
// Source: draft-eastlake-fnv

const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;

/** The hash of a text that comes in pieces. */
export class Fnv32 {
  private hash = OFFSET;

  add(text: string): void {
    const bytes = Buffer.from(text, "utf8");
    let { hash } = this;
    // By index: the iterator takes five times as long, and a checkpoint may have megabytes.
    for (let at = 0; at < bytes.length; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), PRIME);
    this.hash = hash;
  }

  /** 0 to 2^32 − 1. */
  get value(): number {
    return this.hash >>> 0;
  }
}

/** 0 to 2^32 − 1. */
export function fnv32(text: string): number {
  const whole = new Fnv32();
  whole.add(text);
  return whole.value;
}
