// Places of memory on made-up machines of 1 to 8 NUMA nodes: whatever comes and goes, the books are right.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { AllocationError } from "../../../../src/main/resources/assignment/resource-manager.js";
import {
  emptyMemory,
  mayServe,
  occupied,
  sumOn,
  type MemoryBlock,
} from "../../../../src/main/resources/memory-manager/machine-memory.js";
import { choosePlace, memoryHints } from "../../../../src/main/resources/memory-manager/place-memory.js";
import { type PodUid, podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { machines } from "../topology/machines.js";

const none = (): bigint => 0n;
const orders = fc.array(
  fc.oneof(fc.record({ take: fc.integer({ min: 1, max: 9 }) }), fc.record({ free: fc.nat(20) })),
  { maxLength: 12 },
);

test("no byte is allocated twice; single places and groups never share a node; released memory is free", () => {
  fc.assert(
    fc.property(machines, orders, (on, given) => {
      const empty = emptyMemory(on, new Map());
      const held = new Map<PodUid, Map<string, readonly MemoryBlock[]>>();
      for (const [index, order] of given.entries()) {
        const machine = occupied(empty, held);
        if ("free" in order) {
          const freed = [...held.keys()][order.free % Math.max(1, held.size)];
          if (freed !== undefined) held.delete(freed);
          continue;
        }
        const size = BigInt(order.take) << 30n;
        const requests = new Map([["memory", size]]);
        const hints = memoryHints(machine, requests, none);
        for (const { nodes } of hints) assert.ok(sumOn(machine, nodes, "memory", "free") >= size);
        let nodes: readonly number[];
        try {
          nodes = choosePlace(machine, requests, undefined, none);
        } catch (error) {
          assert.ok(error instanceof AllocationError);
          assert.equal(hints.length, 0);
          continue;
        }
        assert.ok(mayServe(machine, nodes));
        assert.ok(hints.every((hint) => hint.nodes.length >= nodes.length || !hint.preferred));
        held.set(podUid(`pod-${index}`), new Map([["app", [{ numaAffinity: nodes, type: "memory", size }]]]));
      }
      const after = occupied(empty, held);
      const blocks = [...held.values()].flatMap((containers) => [...containers.values()].flat());
      const ids = [...empty.keys()];
      const promised = blocks.reduce((sum, { size }) => sum + size, 0n);
      assert.equal(sumOn(empty, ids, "memory", "free") - sumOn(after, ids, "memory", "free"), promised);
      for (const { numaAffinity } of blocks) {
        for (const other of blocks) {
          const shared = other.numaAffinity.some((id) => numaAffinity.includes(id));
          if (shared) assert.deepEqual(other.numaAffinity, numaAffinity);
        }
      }
      held.clear();
      assert.deepEqual(occupied(empty, held), empty);
    }),
    { numRuns: 200 },
  );
});
