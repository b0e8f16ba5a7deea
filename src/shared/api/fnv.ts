// FNV-1a hashes (http://www.isthe.com/chongo/tech/comp/fnv/): upstream derives container hashes and static pod UIDs from them.

/** 32-bit FNV-1a. */
export function fnv1a32(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}

const PRIME_128 = (1n << 88n) + 0x13bn;
const OFFSET_128 = 0x6c62272e07bb014262b821756295c58dn;
const MASK_128 = (1n << 128n) - 1n;

/** 128-bit FNV-1a as 32 hex characters. */
export function fnv1a128Hex(bytes: Uint8Array): string {
  let hash = OFFSET_128;
  for (const byte of bytes) hash = ((hash ^ BigInt(byte)) * PRIME_128) & MASK_128;
  return hash.toString(16).padStart(32, "0");
}
