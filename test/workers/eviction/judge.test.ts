// Which thresholds are met, for how long, and what follows.

import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "node:test";
import type { EvictionThreshold } from "../../../src/shared/kubernetes/api/eviction-threshold.js";
import { judge, NO_MEMORY, type Judgement } from "../../../src/workers/eviction/judge.js";
import type { Observations } from "../../../src/workers/eviction/observe.js";
import { effectiveThresholds, keyOf, unitsOf } from "../../../src/workers/eviction/thresholds.js";
import { GIB, MIB, seen, threshold } from "./kit.js";

const TRANSITION = 300_000;
const keys = ({ due }: Judgement): string[] => due.map(keyOf);

/** Judges one after the other; [time, observations] each. */
function judgeAll(
  thresholds: readonly EvictionThreshold[],
  samples: readonly (readonly [number, Observations])[],
): Judgement[] {
  let memory = NO_MEMORY;
  return samples.map(([now, observations]) => {
    const judgement = judge(thresholds, observations, memory, now, TRANSITION);
    memory = judgement.memory;
    return judgement;
  });
}

describe("a threshold", () => {
  const hard = threshold("memory.available", "100Mi");
  for (const [what, available, met] of [
    ["is met below its value", 100 * MIB - 1, true],
    ["is not met at its value", 100 * MIB, false],
  ] as const) {
    test(what, () => {
      const [judgement] = judgeAll([hard], [[0, seen({ "memory.available": available })]]);
      deepEqual(
        [judgement?.pressures, judgement && keys(judgement)],
        met ? [["MemoryPressure"], ["memory.available/hard"]] : [[], []],
      );
    });
  }

  test("in percent is cut off to whole units of the capacity, in single precision", () => {
    equal(unitsOf({ kind: "percent", percent: 10 }, 1005), 100);
    equal(unitsOf({ kind: "percent", percent: 15 }, 2 ** 40), Math.trunc(2 ** 40 * Math.fround(0.15)));
  });

  test("of a signal that could not be read requests nothing", () => {
    const [judgement] = judgeAll([hard], [[0, seen({ "nodefs.available": 0 })]]);
    deepEqual([judgement?.pressures, judgement?.due], [[], []]);
  });

  test("that is soft presses at once and asks after its grace, counted anew when it was not met in between", () => {
    const soft = threshold("memory.available", "1Gi", { graceMs: 30_000 });
    const low = (at: number) => [at, seen({ "memory.available": 0 }, at)] as const;
    const fine = (at: number) => [at, seen({ "memory.available": 2 * GIB }, at)] as const;
    const judged = judgeAll([soft], [low(0), low(29_999), fine(30_000), low(31_000), low(60_999), low(61_000)]);
    deepEqual(judged.map(keys), [[], [], [], [], [], ["memory.available/soft"]]);
    deepEqual(judged[0]?.pressures, ["MemoryPressure"]);
  });

  test("that asked stays met until its minimum is reclaimed, too; one that did not ask does not", () => {
    const reclaiming = threshold("nodefs.available", "1Gi", { minReclaim: "500Mi" });
    const at = (time: number, mib: number) => [time, seen({ "nodefs.available": mib * MIB }, time)] as const;
    const judged = judgeAll([reclaiming], [at(0, 1100), at(1, 1000), at(2, 1100), at(3, 1524), at(4, 1100)]);
    deepEqual(
      judged.map(({ due }) => due.length),
      [0, 1, 1, 0, 0],
    );
  });

  test("whose figures did not advance asks for nothing, but presses", () => {
    const old = seen({ "nodefs.available": 0 }, 5);
    const judged = judgeAll(
      [threshold("nodefs.available", "1Gi")],
      [
        [5, old],
        [1005, old],
        [2005, seen({ "nodefs.available": 0 }, 2000)],
      ],
    );
    deepEqual(
      judged.map(({ due, pressures }) => [due.length, pressures.length]),
      [
        [1, 1],
        [0, 1],
        [1, 1],
      ],
    );
  });
});

test("memory comes before thresholds that were configured first; the rest as configured", () => {
  const all = [
    threshold("nodefs.available", "1Gi"),
    threshold("pid.available", "10"),
    threshold("allocatableMemory.available", "1Gi"),
    threshold("memory.available", "1Gi"),
  ];
  const nothing = {
    "nodefs.available": 0,
    "pid.available": 0,
    "memory.available": 0,
    "allocatableMemory.available": 0,
  };
  const [judgement] = judgeAll(all, [[0, seen(nothing)]]);
  deepEqual(
    judgement?.due.map(({ signal }) => signal),
    ["allocatableMemory.available", "memory.available", "nodefs.available", "pid.available"],
  );
});

test("a pressure is held for the transition period after it was last seen", () => {
  const hard = threshold("pid.available", "10");
  const at = (time: number, free: number) => [time, seen({ "pid.available": free }, time)] as const;
  const judged = judgeAll([hard], [at(0, 5), at(1000, 50), at(299_999, 50), at(300_000, 50)]);
  deepEqual(
    judged.map(({ pressures }) => pressures.length),
    [1, 1, 1, 0],
  );
});

describe("thresholds that follow from others", () => {
  const configured = [
    threshold("memory.available", "100Mi"),
    threshold("memory.available", "1Gi", { graceMs: 1000 }),
    threshold("nodefs.available", "10%"),
    threshold("imagefs.inodesFree", "5%"),
    threshold("containerfs.available", "50%"),
  ];
  const signals = (enforcePods: boolean, layout: "single" | "dedicated" | "split"): string[] =>
    effectiveThresholds(configured, { enforcePods, layout })
      .slice(4)
      .map((each) => `${each.signal} ${each.value.kind === "percent" ? each.value.percent : each.value.units}`);
  for (const [name, enforcePods, layout, more] of [
    ["single disk", false, "single", ["containerfs.available 10"]],
    ["split disks", false, "split", ["containerfs.available 10"]],
    ["dedicated image disk", false, "dedicated", ["containerfs.inodesFree 5"]],
    ["pods enforced", true, "single", ["allocatableMemory.available 104857600", "containerfs.available 10"]],
  ] as const) {
    test(name, () => deepEqual(signals(enforcePods, layout), more));
  }
});
