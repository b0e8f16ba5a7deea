import { equal, ok } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { formatDuration, parseDuration } from "../../../src/main/command/duration.js";

test("Go's durations", () => {
  const table: [string, number | undefined][] = [
    ["0", 0],
    ["10s", 10_000],
    ["1m30s", 90_000],
    ["1.5h", 5_400_000],
    ["-100ms", -100],
    ["+1s", 1000],
    [".5s", 500],
    ["250us", 0.25],
    ["1h0m1s", 3_601_000],
    ["", undefined],
    ["10", undefined],
    ["s", undefined],
    ["10s ", undefined],
    ["1s-1s", undefined],
    ["1d", undefined],
  ];
  for (const [text, ms] of table) equal(parseDuration(text), ms, text);
});

test("what is written reads back", () => {
  fc.assert(fc.property(fc.integer({ min: -1e9, max: 1e9 }), (ms) => parseDuration(formatDuration(ms)) === ms));
});

test("no text makes the parser throw or hang", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const ms = parseDuration(text);
      ok(ms === undefined || Number.isFinite(ms));
    }),
  );
});
