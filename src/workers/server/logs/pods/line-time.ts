// Time stamps of log lines: RFC 3339 with up to nanoseconds, compared exactly, printed with nine digits as kubectl
// does.

import { readGoTime, type GoTime } from "../../../../shared/base/text/go-time.js";

/** Nanoseconds since the epoch of the time bytes[from, to); undefined if that is no time. */
export function stampNanos(bytes: Uint8Array, from = 0, to = bytes.length): bigint | undefined {
  if (!readGoTime(bytes, from, to, found)) return undefined;
  return BigInt(found.seconds) * 1_000_000_000n + BigInt(found.nanos);
}

const found: GoTime = { seconds: 0, nanos: 0 };

const STAMP = /^(.{11})(\d\d?)(:\d\d:\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))$/;

/** "…:05.12Z" → "…:05.120000000Z", and an offset of zero is Z. */
export function fixedStamp(stamp: string): string {
  const parts = STAMP.exec(stamp);
  if (parts === null) return stamp;
  const [, date = "", hour = "", rest = "", fraction = "", sign = "", hours = "0", minutes = "0"] = parts;
  const offset = Number(hours) * 60 + Number(minutes);
  const zone = offset === 0 ? "Z" : `${sign}${twoDigits(Math.trunc(offset / 60))}:${twoDigits(offset % 60)}`;
  return `${date}${hour.padStart(2, "0")}${rest}.${fraction.padEnd(9, "0").slice(0, 9)}${zone}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}
