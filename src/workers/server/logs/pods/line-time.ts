// Time stamps of log lines: RFC 3339 with up to nanoseconds, compared exactly, printed with nine digits as kubectl
// does.

/** Reads stamps of lines that follow each other: most share their second with the one before. */
export class LineTimes {
  private lastSecond = "";
  private lastNanos = 0n;

  /** Nanoseconds since the epoch; undefined when the text is no time. */
  nanos(stamp: string): bigint | undefined {
    const parts = STAMP.exec(stamp);
    if (parts === null) return undefined;
    const [, second = "", fraction = "", zone = "Z"] = parts;
    const key = second + zone;
    if (key !== this.lastSecond) {
      const millis = Date.parse(key);
      if (Number.isNaN(millis)) return undefined;
      this.lastSecond = key;
      this.lastNanos = BigInt(millis) * 1_000_000n;
    }
    return this.lastNanos + BigInt(fraction.padEnd(9, "0").slice(0, 9));
  }
}

const STAMP = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d*))?(Z|[+-]\d\d:\d\d)$/;

/** "…:05.12Z" → "…:05.120000000Z", and an offset of zero is Z; other texts are unchanged. */
export function fixedStamp(stamp: string): string {
  const parts = STAMP.exec(stamp);
  if (parts === null) return stamp;
  const [, second = "", fraction = "", zone = "Z"] = parts;
  const offset = zone === "+00:00" || zone === "-00:00" ? "Z" : zone;
  return `${second}.${fraction.padEnd(9, "0").slice(0, 9)}${offset}`;
}
