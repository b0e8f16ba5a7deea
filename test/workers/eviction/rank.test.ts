// Order of eviction: table and properties.
// @promise Resources of the node: Evictions are evaluated, ranked and reported as upstream does, from samples at most
//   a second old; no pod within its requests is evicted before one above them.

import assert, { deepEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { rankByProcesses, rankByUsage, type Usage } from "../../../src/workers/eviction/rank.js";
import { pod } from "./kit.js";

const usage = (name: string, priority: number, used: number | undefined, requested = 0): Usage => ({
  pod: pod(name, { priority }),
  used,
  requested,
});
const names = (usages: readonly Usage[], rank = rankByUsage): string[] => rank(usages).map(({ name }) => name);

describe("by usage is evicted first", () => {
  for (const [why, usages, order] of [
    ["who is over its request", [usage("in", 0, 90, 100), usage("over", 1000, 11, 10)], ["over", "in"]],
    ["who is less important, of those over", [usage("high", 10, 500), usage("low", -10, 1)], ["low", "high"]],
    ["who takes most beyond its request", [usage("big", 0, 1000, 990), usage("far", 0, 100)], ["far", "big"]],
    [
      "who has most left, never, of those within",
      [usage("tight", 0, 99, 100), usage("wide", 0, 1, 100)],
      ["tight", "wide"],
    ],
    ["who is at its request counts as within", [usage("at", -5, 100, 100), usage("over", 5, 101, 100)], ["over", "at"]],
    ["of whom nothing is known", [usage("over", -10, 1000), usage("unknown", 10, undefined, 5)], ["unknown", "over"]],
  ] as const) {
    test(why, () => {
      deepEqual(names(usages), order);
      deepEqual(names(usages.toReversed()), order);
    });
  }
});

test("by processes, lower priority comes first, then more processes; requests do not count", () => {
  const usages = [usage("high", 5, 9999), usage("few", 0, 3, 1), usage("many", 0, 30, 99)];
  deepEqual(names(usages, rankByProcesses), ["many", "few", "high"]);
});

const usages = fc
  .uniqueArray(
    fc.record({
      name: fc.string({ minLength: 1, maxLength: 3 }),
      priority: fc.integer({ min: -2, max: 2 }),
      used: fc.option(fc.nat(5), { nil: undefined }),
      requested: fc.nat(5),
    }),
    { selector: ({ name }) => name, maxLength: 12 },
  )
  .map((all) => all.map(({ name, priority, used, requested }) => usage(name, priority, used, requested)));

test("the ranking does not depend on the order of the input, and loses no pod", () => {
  fc.assert(
    fc.property(usages, fc.func(fc.integer()), (given, key) => {
      const shuffled = given.toSorted((a, b) => key(a.pod.uid) - key(b.pod.uid));
      for (const rank of [rankByUsage, rankByProcesses]) {
        const ranked = rank(given);
        assert.deepEqual(rank(shuffled), ranked);
        assert.equal(new Set(ranked).size, given.length);
      }
    }),
  );
});

test("no pod within its request is evicted before one above it; among equals priority decides", () => {
  fc.assert(
    fc.property(usages, (given) => {
      const byPod = new Map(given.map((each) => [each.pod, each]));
      const ranked = rankByUsage(given).map((each) => byPod.get(each));
      for (const [index, first] of ranked.entries()) {
        for (const later of ranked.slice(index + 1)) {
          if (first === undefined || later === undefined) continue;
          if (first.used === undefined) continue;
          assert.notEqual(later.used, undefined);
          const over = ({ used = 0, requested }: Usage): boolean => used > requested;
          assert.ok(over(first) || !over(later));
          if (over(first) === over(later)) assert.ok(first.pod.priority <= later.pod.priority);
        }
      }
    }),
  );
});
