import { equal, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import {
  formatDuration,
  formatDurationNs,
  parseDuration,
  parseDurationNs,
} from "../../../src/main/command/duration.js";

test("durations are read as Go reads them", () => {
  const table: [string, number | undefined][] = [
    ["0", 0],
    ["-0", 0],
    ["10s", 10_000],
    ["1m30s", 90_000],
    ["1.5h", 5_400_000],
    ["-100ms", -100],
    ["+1s", 1000],
    [".5s", 500],
    ["1.s", 1000],
    ["250us", 0.25],
    ["250µs", 0.25],
    ["250μs", 0.25],
    ["1h0m1s", 3_601_000],
    ["1s1h", 3_601_000],
    ["0.000000000000000000000000000001s", 0],
    ["", undefined],
    ["-", undefined],
    [".s", undefined],
    ["10", undefined],
    ["s", undefined],
    ["10s ", undefined],
    ["1s-1s", undefined],
    ["1d", undefined],
    ["1mss", undefined],
  ];
  for (const [text, ms] of table) equal(parseDuration(text), ms, text);
});

test("to the nanosecond, within Go's range", () => {
  const table: [string, bigint | undefined][] = [
    ["1ns", 1n],
    ["1.9ns", 1n],
    ["0.1us", 100n],
    ["1h2m3.5s", 3_723_500_000_000n],
    ["0.3333333333333333333h", 1_200_000_000_000n],
    ["9223372036854775807ns", 2n ** 63n - 1n],
    ["9223372036854775808ns", undefined],
    ["-9223372036854775808ns", -(2n ** 63n)],
    ["-9223372036854775809ns", undefined],
    ["2562047h47m16.854775807s", 2n ** 63n - 1n],
    ["2562048h", undefined],
    ["9223372036854775807h9223372036854775807h", undefined],
    [`${"9".repeat(10_000)}h`, undefined],
    [`${"0".repeat(10_000)}1h`, 3_600_000_000_000n],
  ];
  for (const [text, ns] of table) equal(parseDurationNs(text), ns, text.slice(0, 40));
});

test("printed as Go prints", () => {
  const table: [bigint, string][] = [
    [0n, "0s"],
    [1n, "1ns"],
    [1100n, "1.1µs"],
    [2_200_000n, "2.2ms"],
    [100_000_000n, "100ms"],
    [3_300_000_000n, "3.3s"],
    [245_000_000_000n, "4m5s"],
    [245_001_000_000n, "4m5.001s"],
    [18_367_001_000_000n, "5h6m7.001s"],
    [14_400_000_000_000n, "4h0m0s"],
    [480_000_000_001n, "8m0.000000001s"],
    [2n ** 63n - 1n, "2562047h47m16.854775807s"],
    [-(2n ** 63n), "-2562047h47m16.854775808s"],
  ];
  for (const [ns, text] of table) equal(formatDurationNs(ns), text);
});

describe("printed values parse to the same value", () => {
  test("nanoseconds survive printing and parsing", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (ns) => {
        equal(parseDurationNs(formatDurationNs(ns)), ns);
      }),
    );
  });
  test("milliseconds survive printing and parsing", () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e12, max: 1e12 }), (ms) => {
        equal(parseDuration(formatDuration(ms)), ms);
      }),
    );
  });
  test("parts of milliseconds survive printing and parsing", () => {
    fc.assert(
      fc.property(fc.integer({ min: -(2 ** 50), max: 2 ** 50 }), (ns) => {
        equal(parseDuration(formatDuration(ns / 1e6)), ns / 1e6 + 0);
      }),
    );
  });
});

test("no text makes the parser throw or hang", () => {
  const piece = fc.constantFrom(
    "1",
    "9",
    "0",
    ".",
    "h",
    "m",
    "s",
    "µ",
    "n",
    "u",
    "-",
    "+",
    " ",
    "99999999999999999999",
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(piece).map((parts) => parts.join("")),
      ),
      (text) => {
        const ms = parseDuration(text);
        ok(ms === undefined || Number.isFinite(ms));
      },
    ),
    { numRuns: 2000 },
  );
});
