// The steps of a rotation, from names alone, and the time of the next inspection.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { nextLook } from "../../../../src/main/containers/logs/next-look.js";
import { filesToCompress, planRotation } from "../../../../src/main/containers/logs/plan-rotation.js";
import { logFileNames, nextStem } from "../../../../src/shared/node/container-logs/file-names.js";

const NOW = new Date(2026, 0, 2, 3, 4, 5);
const plan = (names: string[], maxFiles = 5, inWork: string[] = []): ReturnType<typeof planRotation> =>
  planRotation(names, "0.log", { maxFiles, now: NOW, inWork: new Set(inWork) });

test("the file being written gets local time after its name", () => {
  assert.deepEqual(plan(["0.log"]), { remove: [], rotated: "0.log.20260102-030405" });
});

test("unfinished files and plain twins of compressed ones go; those in work and unknown files stay", () => {
  const names = [
    "0.log",
    "0.log.20260101-000000",
    "0.log.20260101-000000.gz",
    "0.log.20260101-000001",
    "0.log.20260101-000001.tmp",
    "0.log.20260101-000002.tmp",
    "0.log.bak",
    "1.log.20260101-000000.tmp",
  ];
  assert.deepEqual(plan(names, 5, ["0.log.20260101-000001"]).remove, [
    "0.log.20260101-000000",
    "0.log.20260101-000002.tmp",
  ]);
});

test("the oldest beyond the number allowed go", () => {
  const rotated = ["0.log.20260101-000003", "0.log.20260101-000001.gz", "0.log.20260101-000002.gz"];
  assert.deepEqual(plan(["0.log", ...rotated], 4).remove, ["0.log.20260101-000001.gz"]);
  assert.deepEqual(plan(["0.log", ...rotated], 2).remove.length, 3);
});

test("names never collide and always sort by age, even when the clock stands still or is set back", () => {
  const times = fc.date({ min: new Date(2020, 0), max: new Date(2040, 0), noInvalidDate: true });
  fc.assert(
    fc.property(fc.array(times, { maxLength: 20 }), (dates) => {
      let newest: string | undefined;
      for (const now of dates) {
        const stem = nextStem(now, newest);
        assert.match(stem, /^\d{8}-\d{6}$/);
        assert.ok(newest === undefined || stem > newest, `${stem} after ${String(newest)}`);
        newest = stem;
      }
    }),
  );
});

test("for any files at most maxFiles are left after a rotation, and none of the newest is lost", () => {
  const name = fc
    .record({ second: fc.nat(59), suffix: fc.constantFrom("", ".gz", ".tmp") })
    .map(({ second, suffix }) => `0.log.20260101-0000${String(second).padStart(2, "0")}${suffix}`);
  fc.assert(
    fc.property(fc.uniqueArray(name, { maxLength: 30 }), fc.integer({ min: 2, max: 8 }), (old, maxFiles) => {
      const names = ["0.log", ...old];
      const { remove, rotated } = plan(names, maxFiles);
      assert.ok(!names.includes(rotated));
      const left = [...names.filter((one) => !remove.includes(one)), rotated];
      assert.ok(left.length <= maxFiles, left.join());
      const stems = (of: string[]): string[] => logFileNames(of, "0.log").flatMap(({ stem }) => stem ?? []);
      assert.deepEqual(stems(left).slice(0, -1), stems(names).slice(Math.max(0, stems(names).length - (maxFiles - 2))));
    }),
  );
});

test("all rotated files but the newest are compressed, oldest first", () => {
  const names = ["0.log", "0.log.20260101-000003", "0.log.20260101-000002", "0.log.20260101-000001.gz"];
  assert.deepEqual(filesToCompress(names, "0.log"), ["0.log.20260101-000002"]);
  assert.deepEqual(filesToCompress(["0.log", "0.log.20260101-000003"], "0.log"), []);
});

const LIMITS = { maxSize: 1000, monitorIntervalMs: 10_000 };

test("looks follow the growth", () => {
  const look = (size: number, grown: number, elapsedMs: number, waitedMs: number): unknown =>
    nextLook({ size, grown, elapsedMs, waitedMs }, LIMITS);
  assert.deepEqual(look(10, 10, 0, 0), { afterMs: 250, asleep: false }, "a new log");
  assert.deepEqual(look(0, 0, 0, 0), { afterMs: 10_000, asleep: true }, "a new log without a line");
  assert.deepEqual(look(10, 0, 250, 250), { afterMs: 10_000, asleep: true }, "a new log, quiet at the second look");
  assert.deepEqual(look(0, 1000, 250, 250), { afterMs: 250, asleep: false }, "just rotated");
  assert.deepEqual(look(10, 0, 500, 500), { afterMs: 1000, asleep: false }, "quiet for a moment");
  assert.deepEqual(look(10, 1, 3000, 3000), { afterMs: 3000, asleep: false }, "slow");
  assert.deepEqual(look(10, 0, 3000, 3000), { afterMs: 10_000, asleep: true }, "quiet");
  assert.deepEqual(look(500, 500, 1000, 1000), { afterMs: 1000, asleep: false }, "full in a second");
  assert.deepEqual(look(900, 900, 250, 250), { afterMs: 250, asleep: false }, "full at once");
});
