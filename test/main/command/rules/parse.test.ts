// Values that start-up and the eviction code parse from the configuration's texts.

import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "node:test";
import { splitNodeIPs } from "../../../../src/main/command/rules/flags.js";
import { parseEviction, type EvictionMaps } from "../../../../src/main/command/rules/parse-eviction.js";
import { parseReserved } from "../../../../src/main/command/rules/parse-reserved.js";
import { printQuantity } from "../../../../src/shared/kubernetes/api/quantity.js";

describe("eviction thresholds", () => {
  const thresholds = (maps: EvictionMaps) => parseEviction(maps).thresholds;
  test("thresholds are quantities or percentages", () =>
    deepEqual(thresholds({ evictionHard: { "memory.available": "100Mi", "nodefs.inodesFree": "5%" } }), [
      {
        signal: "memory.available",
        value: { kind: "quantity", units: 104_857_600n, format: "BinarySI" },
        graceMs: 0,
        hard: true,
      },
      { signal: "nodefs.inodesFree", value: { kind: "percent", percent: 5 }, graceMs: 0, hard: true },
    ]));
  test("a percentage is a number of Go with one percent sign or more", () => {
    const percentOf = (text: string): unknown => thresholds({ evictionHard: { "memory.available": text } });
    for (const [text, percent] of [
      ["1e1%", 10],
      ["+.5E0%", 0.5],
      ["10%%", 10],
      ["5.%", 5],
      ["1_0%", 10],
      ["0x1p4%", 16],
      ["0X_1.8P+3%", 12],
      ["100.0%", 100],
      ["100%%", 100],
      ["1e2%", 100],
      ["100.000001%", 100],
    ] as const) {
      deepEqual(
        percentOf(text),
        [{ signal: "memory.available", value: { kind: "percent", percent }, graceMs: 0, hard: true }],
        text,
      );
    }
  });

  test("a text that is no number of Go is no percentage", () => {
    for (const text of ["%", ".%", "e1%", "1e%", "1__0%", "_1%", "0x10%", "10 %", " 10%", "+nan%", "infin%", "1e39%"]) {
      equal(parseEviction({ evictionHard: { "memory.available": text } }).violations.length, 1, text);
    }
    for (const text of ["100.1%", "-1%", "inf%"]) {
      equal(parseEviction({ evictionHard: { "memory.available": text } }).violations.length, 1, text);
    }
  });

  test("0% and 100% turn a signal off", () =>
    deepEqual(
      thresholds({
        evictionHard: { "memory.available": "0%", "nodefs.available": "100%", "nodefs.inodesFree": "-0.0%" },
        evictionSoft: { "imagefs.available": "0%" },
      }),
      [],
    ));
  test("soft ones have a grace period, both kinds the minimum to reclaim", () => {
    const value = { kind: "quantity", units: 100n, format: "DecimalSI" };
    const minReclaim = { kind: "percent", percent: 5 };
    deepEqual(
      thresholds({
        evictionSoft: { "pid.available": "100" },
        evictionHard: { "pid.available": "100" },
        evictionSoftGracePeriod: { "pid.available": "1m30s" },
        evictionMinimumReclaim: { "pid.available": "5%" },
      }),
      [
        { signal: "pid.available", value, graceMs: 0, hard: true, minReclaim },
        { signal: "pid.available", value, graceMs: 90_000, hard: false, minReclaim },
      ],
    );
  });
  test("an unreadable item is left out and named, the rest stands", () => {
    const { thresholds: read, violations } = parseEviction({
      evictionHard: { "memory.available": "x", "nodefs.available": "1Gi" },
      evictionSoft: { "memory.available": "1Gi" },
      evictionSoftGracePeriod: { "memory.available": "x" },
    });
    deepEqual(
      read.map(({ signal }) => signal),
      ["nodefs.available"],
    );
    deepEqual(
      violations.map(({ path }) => path),
      ["evictionHard[memory.available]", "evictionSoftGracePeriod[memory.available]"],
    );
  });
});

test("a resource that cannot be reserved is a violation", () => {
  const { resources, violations } = parseReserved("kubeReserved", { cpu: "500m", memory: "1Gi", gpu: "1", pid: "-1" });
  deepEqual(
    Object.entries(resources).map(([name, quantity]) => [name, printQuantity(quantity)]),
    [
      ["cpu", "500m"],
      ["memory", "1Gi"],
    ],
  );
  equal(violations.length, 2);
});

test("--node-ip skips empty parts between its addresses", () =>
  deepEqual(splitNodeIPs(" 10.0.0.1,, ::1,"), ["10.0.0.1", "::1"]));
