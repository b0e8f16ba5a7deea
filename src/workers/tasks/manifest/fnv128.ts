// 128-bit FNV-1a in 32-bit limbs: the static pod's UID. No secret hangs on it; it must be equal on every machine and
// day. The prime is 2^88 + 0x13b, so a multiplication is a shift by 88 bits plus a small product.

const SMALL = 0x13b;
const WORD = 0x100000000;

/** The hash of the UTF-8 bytes of `parts`, one after the other, as 32 lower-case hex digits. */
export function fnv128(...parts: string[]): string {
  // Offset basis 6c62272e 07bb0142 62b82175 6295c58d, most significant limb first.
  let a = 0x6c62272e;
  let b = 0x07bb0142;
  let c = 0x62b82175;
  let d = 0x6295c58d;
  for (const part of parts) {
    for (const byte of Buffer.from(part, "utf8")) {
      const low = (d ^ byte) >>> 0;
      const d0 = low * SMALL;
      const c0 = c * SMALL + Math.floor(d0 / WORD);
      // Shifted by 88 bits = two limbs and 24 bits: low reaches b (its low 8 bits) and a (the rest, and c's low 8
      // bits).
      const b0 = b * SMALL + Math.floor(c0 / WORD) + ((low << 24) >>> 0);
      const a0 = a * SMALL + Math.floor(b0 / WORD) + (low >>> 8) + ((c << 24) >>> 0);
      a = a0 % WORD;
      b = b0 % WORD;
      c = c0 % WORD;
      d = d0 % WORD;
    }
  }
  return [a, b, c, d].map((limb) => limb.toString(16).padStart(8, "0")).join("");
}
