// Restarts for changed configurations: a table, and the bound for any flood of changes.
// @promise Hostile tenants and clients: A flood of texts or assignments: main gets at most two per second. One
//   ConfigMap is watched, and an hour has at most 19 restarts; wrong types, sizes and names are refused; the event of a
//   restart is sent by the next process if it was not sent.
// @with test/workers/node-status/config-source, test/main/process/dynamic-config/follow.test.ts

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { recentRestarts, restartWait } from "../../../../src/main/process/dynamic-config/restart-budget.js";
import { wallTime, later, type WallTime } from "../../../../src/shared/base/clock/moments.js";

const MINUTE = 60_000;
const CASES: [name: string, agoMs: number[], want: number][] = [
  ["the first", [], 0],
  ["the third within an hour", [2 * MINUTE, MINUTE], 0],
  ["the fourth", [30_000, 20_000, 10_000], 10_000],
  ["the fourth, when the wait has passed", [3 * MINUTE, 2 * MINUTE, MINUTE], 0],
  ["the fifth", [4, 3, 2, 1].map((n) => n * 10_000), 30_000],
  ["one of very many", Array.from({ length: 50 }, (_, n) => n * 1000), 5 * MINUTE],
  ["old ones do not count", [60 * MINUTE, 61 * MINUTE, 62 * MINUTE], 0],
  ["nor those of a clock that was set back", [-MINUTE, -MINUTE, -MINUTE], 0],
];
for (const [name, ago, want] of CASES) {
  test(name, () => {
    const now = wallTime(100 * MINUTE);
    assert.equal(
      restartWait(
        ago.map((ms) => later(now, -ms)),
        now,
      ),
      want,
    );
  });
}

test("property: with any gaps between changes, an hour has at most 19 restarts", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 30_000 }), { minLength: 200, maxLength: 400 }), (gaps) => {
      let now = wallTime(0);
      let times: WallTime[] = [];
      let restarts = 0;
      for (const gap of gaps) {
        now = later(now, gap);
        if (now > 60 * MINUTE) break;
        if (restartWait(times, now) > 0) continue;
        times = [...recentRestarts(times, now), now];
        restarts++;
      }
      assert.ok(restarts <= 19, String(restarts));
    }),
  );
});
