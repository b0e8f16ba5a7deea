// Tests that do things at random can be repeated by their seed.

/** mulberry32: numbers in [0, 1) that a seed repeats. */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** `NODELET_FAULT_SEED` or a fresh one. */
export function chosenSeed(): number {
  return Number(process.env["NODELET_FAULT_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
}
