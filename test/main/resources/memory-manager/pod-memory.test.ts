// Memory of a pod as a whole: which pods can be divided, and what each container gets.
// @promise Resources of the node: Gate PodLevelResourceManagers, memory: a pod has its memory as a whole. Each
//   container has an exclusive part or a share of the rest, none is without memory; metrics resource_manager_*.
// @with test/main/resources/memory-manager/pod-level.test.ts,
//   test/main/resources/cpu-manager/static-cpu-manager.test.ts, test/integration/resource-managers.test.ts

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import type { MemoryRequests } from "../../../../src/main/resources/memory-manager/place-memory.js";
import { divideMemory, podMemoryProblem } from "../../../../src/main/resources/memory-manager/pod-memory.js";
import type { Container, Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { container, pod } from "../../../support/pods.js";

/** "i=2" is an init container with 2 of its own, "s" a sidecar that shares, "a" an app container. */
function shaped(text: string): { subject: Pod; wanted: (one: Container) => MemoryRequests } {
  const sizes = new Map<string, bigint>();
  const all = text.split(" ").map((word) => {
    const [name = "", size] = word.split("=");
    if (size !== undefined) sizes.set(name, BigInt(size));
    return container(name, name.startsWith("s") ? { restartPolicy: "Always" } : {});
  });
  const subject = pod({
    initContainers: all.filter(({ name }) => !name.startsWith("a")),
    containers: all.filter(({ name }) => name.startsWith("a")),
  });
  const wanted = ({ name }: Container): MemoryRequests => {
    const size = sizes.get(name);
    return size === undefined ? new Map() : new Map([["memory", size]]);
  };
  return { subject, wanted };
}
const total = new Map([["memory", 10n]]);

describe("a pod of 10 bytes", () => {
  const SHARED =
    "sum of exclusive container memory requests equals pod budget, leaving no memory for shared containers";
  const INIT = "pod has shared init containers but no memory available for them";
  const rows: [containers: string, expected: string][] = [
    ["a", "a:10"],
    ["a=10", "a:10"],
    ["a1=4 a2=6", "a1:4 a2:6"],
    ["a1=4 a2", "a1:4 a2:6"],
    ["a1=10 a2", SHARED],
    ["a1=4 a2=6 a3", SHARED],
    ["a1 a2", "a1:10 a2:10"],
    ["i=8 a1=4 a2", "i:8 a1:4 a2:6"],
    ["i a=10", "i:10 a:10"],
    ["s=4 a1=6 a2", SHARED],
    ["s=4 a1=5 a2", "s:4 a1:5 a2:1"],
    ["s a=10", SHARED],
    ["s a=9", "s:1 a:9"],
    ["s=10 i a=1", INIT],
    ["i s=10 a=1", "i:10 s:10 a:1"],
    ["s1=3 i s2=3 a", "s1:3 i:7 s2:3 a:4"],
  ];
  for (const [containers, expected] of rows) {
    test(`${containers} → ${expected}`, () => {
      const { subject, wanted } = shaped(containers);
      const problem = podMemoryProblem(subject, total, wanted);
      if (problem !== undefined) {
        assert.equal(problem, `pod rejected, ${expected}`);
        return;
      }
      const { blocks, exclusive } = divideMemory(subject, total, [0, 2], wanted);
      const names = containers.split(" ").map((word) => word.split("=")[0] ?? "");
      assert.equal(names.map((name) => `${name}:${blocks.get(name)?.[0]?.size}`).join(" "), expected);
      assert.equal(exclusive, containers.split("=").length - 1);
      for (const list of blocks.values()) assert.deepEqual(list[0]?.numaAffinity, [0, 2]);
    });
  }
});

test("huge pages are divided as memory is; a kind that is used up leaves nothing to share", () => {
  const { subject } = shaped("a1 a2");
  const both = new Map([...total, ["hugepages-2Mi", 4n] as const]);
  const some = (pages: bigint) => (one: Container) =>
    new Map(
      one.name === "a1"
        ? ([
            ["memory", 4n],
            ["hugepages-2Mi", pages],
          ] as const)
        : [],
    );
  assert.match(podMemoryProblem(subject, both, some(4n)) ?? "", /exclusive container hugepages-2Mi requests/);
  const { blocks } = divideMemory(subject, both, [0], some(1n));
  assert.deepEqual(
    blocks.get("a2")?.map(({ type, size }) => `${type} ${size}`),
    ["memory 6", "hugepages-2Mi 3"],
  );
});

test("a pod that can be divided leaves no container without memory, and those that stay never hold more than the pod", () => {
  const one = fc.record({ kind: fc.constantFrom("i", "s", "a"), size: fc.option(fc.integer({ min: 1, max: 5 })) });
  fc.assert(
    fc.property(fc.array(one, { minLength: 1, maxLength: 6 }), fc.integer({ min: 1, max: 20 }), (list, budget) => {
      const { subject, wanted } = shaped(
        list.map(({ kind, size }, index) => `${kind}${index}${size === null ? "" : `=${size}`}`).join(" "),
      );
      const whole = new Map([["memory", BigInt(budget)]]);
      const stays = list.filter(({ kind }) => kind !== "i");
      // The API server refuses containers that request more than their pod.
      fc.pre(stays.reduce((sum, { size }) => sum + (size ?? 0), 0) <= budget);
      fc.pre(podMemoryProblem(subject, whole, wanted) === undefined);
      const { blocks } = divideMemory(subject, whole, [0], wanted);
      for (const [name, held] of blocks) assert.ok((held[0]?.size ?? 0n) > 0n, name);
      const names = list.map(({ kind }, index) => `${kind}${index}`);
      const exclusive = names.filter((_, index) => list[index]?.kind !== "i" && list[index]?.size !== null);
      const shared = names.filter((_, index) => list[index]?.kind !== "i" && list[index]?.size === null);
      const size = (name: string): bigint => blocks.get(name)?.[0]?.size ?? 0n;
      const sum =
        exclusive.reduce((all, name) => all + size(name), 0n) + (shared[0] === undefined ? 0n : size(shared[0]));
      assert.ok(sum <= BigInt(budget));
      if (shared.length > 0) assert.equal(sum, BigInt(budget), "all that is left is shared");
    }),
  );
});
