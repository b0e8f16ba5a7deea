// The configuration's periods as groups of pods.

import assert from "node:assert/strict";
import { test } from "node:test";
import { shutdownGroups, totalSeconds, type ShutdownPeriods } from "../../../src/main/command/shutdown-groups.js";

const CRITICAL = 2_000_000_000;
const listed = (...list: [priority: number, seconds: number][]): Partial<ShutdownPeriods> => ({
  shutdownGracePeriodByPodPriority: list.map(([priority, shutdownGracePeriodSeconds]) => ({
    priority,
    shutdownGracePeriodSeconds,
  })),
});
const periods = (total: number, critical = 0): Partial<ShutdownPeriods> => ({
  shutdownGracePeriodMs: total,
  shutdownGracePeriodCriticalPodsMs: critical,
});

const ROWS: [what: string, given: Partial<ShutdownPeriods>, groups: [number, number][]][] = [
  ["nothing: off", {}, []],
  ["both zero: off", periods(0, 0), []],
  ["two periods", periods(30_000, 10_000), [[0, 20], [CRITICAL, 10]]], // oxfmt-ignore
  ["all of it for critical pods", periods(10_000, 10_000), [[0, 0], [CRITICAL, 10]]], // oxfmt-ignore
  ["none of it for critical pods", periods(10_000), [[0, 10], [CRITICAL, 0]]], // oxfmt-ignore
  ["parts of a second are dropped, as upstream does", periods(3700, 1200), [[0, 2], [CRITICAL, 1]]], // oxfmt-ignore
  ["a list, in any order", listed([1000, 5], [-10, 30], [0, 7]), [[-10, 30], [0, 7], [1000, 5]]], // oxfmt-ignore
  ["a list of zeros: off", listed([0, 0], [10, 0]), []],
];

for (const [what, given, groups] of ROWS) {
  test(what, () => {
    const found = shutdownGroups({
      shutdownGracePeriodMs: 0,
      shutdownGracePeriodCriticalPodsMs: 0,
      shutdownGracePeriodByPodPriority: [],
      ...given,
    });
    assert.deepEqual(
      found.map(({ priority, seconds }) => [priority, seconds]),
      groups,
    );
    assert.equal(
      totalSeconds(found),
      groups.reduce((sum, [, seconds]) => sum + seconds, 0),
    );
  });
}
