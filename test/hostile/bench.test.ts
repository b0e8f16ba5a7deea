// The bench's own arithmetic: a bench that can't see a late probe, or calls a broken promise kept, proves nothing.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Row } from "./attack.js";
import { latenessOf } from "./bystander.js";
import { busiestMs } from "./main-cpu.js";
import { caseLine, tableOf } from "./report.js";

test("a probe is as late as the longest time between two stamps is over its period", () => {
  assert.equal(latenessOf([1, 2, 3, 4, 5], 2, 5), 0);
  assert.equal(latenessOf([1, 2, 6, 7], 2, 7), 3);
});

test("the time since the last stamp before the window, and after the last one in it, counts", () => {
  assert.equal(latenessOf([1, 2], 4, 9), 6);
  assert.equal(latenessOf([1, 2, 8, 30], 7, 9), 5);
});

test("a probe that never came is as late as the window is long", () => {
  assert.equal(latenessOf([], 10, 20), 9);
});

test("main's own part of a delay is the most CPU time within a stretch of its length", () => {
  const samples = [0, 0, 10, 1, 20, 9, 30, 19, 40, 19];
  assert.equal(busiestMs(samples, 20), 18);
  assert.equal(busiestMs(samples, 1_000), 19);
  assert.equal(busiestMs([], 20), 0);
});

const ROW: Row = {
  ...{
    family: "tenant",
    attack: "files",
    did: "much",
    probeLateMs: 1.6,
    directLateMs: 1.4,
    operatorMs: 20,
    operatorP99Ms: 19,
    directExecMs: 12,
    directStatsMs: 7,
    directPageMs: 5,
    mainDelayMs: 3.2,
    mainCpuMs: 1.2,
    idleDelayMs: 2.4,
  },
  ...{ threadRestarts: 0, hasProcessDied: false, rssBeforeMiB: 100, rssAfterMiB: 101, broken: [], missed: [] },
};

test("the table has a line for each attack, with its verdict", () => {
  const table = tableOf([ROW, { ...ROW, missed: ["late"] }, { ...ROW, broken: ["gone"], missed: ["late"] }]);
  const verdicts = table.split("\n").map((line) => line.split(" | ").at(-1));
  assert.deepEqual(verdicts.slice(2), ["kept |", "*missed*: late |", "**broken**: gone |"]);
  assert.match(
    table,
    /\| tenant: files \| much \| 3 \(1; 2\) \| 1002 \(1001\) \| 19; 20 \(12; 7; 5\) \| 0 \| 100 → 101 \| – \| kept \|/,
  );
});

test("a case is one line with the same figures", () => {
  assert.equal(
    caseLine({ ...ROW, threadRestarts: 2 }),
    "tenant: files · sent much · main's longest delay 3 (1; 2) ms · longest gap of the victim's probes 1002 (1001) ms · " +
      "operator p99; slowest 19; 20 (12; 7; 5) ms · deaths 2 threads · RSS 100 → 101 MiB · kept",
  );
  assert.match(caseLine({ ...ROW, hasProcessDied: true }), / · deaths the process · /);
});
