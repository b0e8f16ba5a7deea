// Times against what Go 1.26's time.Parse makes of them.

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { goTimeMs, readGoTime } from "../../../../src/shared/base/text/go-time.js";

/** Text, and what Go's time.Time prints of it in UTC; undefined where time.Parse fails. */
const RECORDED: [text: string, utc: string | undefined][] = [
  ["2026-02-30T10:00:00Z", undefined],
  ["2026-02-29T10:00:00Z", undefined],
  ["1900-02-29T00:00:00Z", undefined],
  ["2000-02-29T00:00:00Z", "2000-02-29T00:00:00.000000000Z"],
  ["2024-02-29T10:00:00Z", "2024-02-29T10:00:00.000000000Z"],
  ["2026-04-31T10:00:00Z", undefined],
  ["2026-01-01T24:00:00Z", undefined],
  ["2026-01-01T23:59:60Z", undefined],
  ["2026-01-01T03:60:00Z", undefined],
  ["2026-13-01T03:00:00Z", undefined],
  ["2026-12-00T03:00:00Z", undefined],
  ["0000-00-01T03:59:00.5Z", undefined],
  ["2026-01-01T3:59:00Z", "2026-01-01T03:59:00.000000000Z"],
  ["2026-12-31T3:0:00Z", undefined],
  ["2026-01-01T03:59:00,5Z", "2026-01-01T03:59:00.500000000Z"],
  ["2026-01-01T03:59:00.Z", undefined],
  ["2026-01-01T03:59:00.5123456789123Z", "2026-01-01T03:59:00.512345678Z"],
  ["2026-01-01T03:59:00.5+24:00", "2025-12-31T03:59:00.500000000Z"],
  ["2026-01-01T03:59:00.5+25:00", undefined],
  ["2026-01-01T03:59:00.5+23:60", "2025-12-31T03:59:00.500000000Z"],
  ["2026-01-01T03:59:00.5+23:61", undefined],
  ["2026-01-01T03:59:00.5-00:00", "2026-01-01T03:59:00.500000000Z"],
  ["2026-01-01T03:59:00.5-0700", undefined],
  ["2026-01-01T03:59:00.5", undefined],
  ["2026-01-01T03:59:00Zz", undefined],
  ["2026-01-01t03:59:00z", undefined],
  ["2026-01-01 03:59:00Z", undefined],
  ["2026-12-31T03:00:00.123456789+05:30", "2026-12-30T21:30:00.123456789Z"],
  ["9999-12-31T23:59:59.999999999-12:00", "10000-01-01T11:59:59.999999999Z"],
  ["", undefined],
];

test("a time is read, or refused, as Go's time.Parse does it", () => {
  for (const [text, utc] of RECORDED) {
    const time = readGoTime(text);
    equal(time !== undefined, utc !== undefined, text);
    if (utc === undefined) continue;
    const [seconds = "", nanos = ""] = utc.split(".");
    const padded = seconds.startsWith("10000") ? `+0${seconds}` : seconds;
    deepEqual(time, { seconds: Date.parse(`${padded}Z`) / 1000, nanos: parseInt(nanos) }, text);
  }
});

test("every day of four centuries is the day that Date has", () => {
  for (let ms = Date.UTC(1800, 0, 1); ms < Date.UTC(2201, 0, 1); ms += 86_400_000) {
    const text = new Date(ms).toISOString();
    if (goTimeMs(text) !== ms) equal(goTimeMs(text), ms, text);
  }
});

test("a time of thousands of digits is refused unread", () => {
  equal(goTimeMs(`2026-01-01T00:00:00.${"0".repeat(100_000)}Z`), undefined);
});
