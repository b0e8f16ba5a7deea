// Time stamps of log lines: RFC 3339 with up to nanoseconds, compared exactly, printed with nine digits as kubectl
// does.

import { goTimeParts, readGoTime } from "../../../../shared/base/text/go-time.js";

/** Nanoseconds since the epoch; undefined if that is no time. */
export function stampNanos(stamp: string): bigint | undefined {
  const time = readGoTime(stamp);
  return time === undefined ? undefined : BigInt(time.seconds) * 1_000_000_000n + BigInt(time.nanos);
}

/** "…:05.12Z" → "…:05.120000000Z", and an offset of zero is Z. */
export function fixedStamp(stamp: string): string {
  const parts = goTimeParts(stamp);
  if (parts === undefined) return stamp;
  const { date, hour, minuteAndSecond, fraction, offsetMinutes } = parts;
  const east = Math.abs(offsetMinutes);
  const sign = offsetMinutes < 0 ? "-" : "+";
  const zone = east === 0 ? "Z" : `${sign}${twoDigits(Math.trunc(east / 60))}:${twoDigits(east % 60)}`;
  return `${date}T${hour.padStart(2, "0")}${minuteAndSecond}.${fraction.slice(0, 9).padEnd(9, "0")}${zone}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}
