// 32-bit FNV-1a of a text's UTF-8: what upstream puts into its checkpoints and container hashes. A checksum, no protection.
// Source: draft-eastlake-fnv

const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;

/** 0 to 2^32 − 1. */
export function fnv32(text: string): number {
  let hash = OFFSET;
  for (const byte of Buffer.from(text, "utf8")) hash = Math.imul(hash ^ byte, PRIME);
  return hash >>> 0;
}
