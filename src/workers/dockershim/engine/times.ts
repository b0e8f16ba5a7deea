// Times of the Engine as CRI writes them. Pure.

const FORM = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/;

/**
 * RFC 3339 with up to nine digits → nanoseconds since the epoch. 0 for the Engine's zero time ("0001-01-01T00:00:00Z")
 * and for no time.
 */
export function nanosOf(time: string): bigint {
  const match = FORM.exec(time);
  if (match === null) return 0n;
  const [, date = "", fraction = "", zone = "Z"] = match;
  const seconds = Date.parse(`${date}${zone}`);
  return Number.isNaN(seconds) || seconds <= 0 ? 0n : BigInt(seconds) * 1_000_000n + BigInt(fraction.padEnd(9, "0"));
}

/** Nanoseconds → "seconds.nanoseconds", as the Engine reads `since`. */
export function engineSince(nanos: bigint): string {
  return `${nanos / 1_000_000_000n}.${(nanos % 1_000_000_000n).toString().padStart(9, "0")}`;
}
