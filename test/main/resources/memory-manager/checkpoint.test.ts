// memory_manager_state as upstream writes it: the checksums here are upstream's own (1.36.2).

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  decodeMemoryState,
  encodeMemoryState,
  type MemoryState,
} from "../../../../src/main/resources/memory-manager/checkpoint.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";

const table = { total: 2048, systemReserved: 512, allocatable: 1536, reserved: 512, free: 1024 };
const pages = { total: 1, systemReserved: 2, allocatable: 3, reserved: 4, free: 5 };
const block = { numaAffinity: [0], type: "memory", size: 512 };

const plain = {
  policyName: "static",
  machineState: { "0": { numberOfAssignments: 0, memoryMap: { memory: table }, cells: [] } },
  entries: { pod: { container1: [block] } },
  checksum: 4215593881,
};
/** Every kind of list and map, keys out of order. */
const full = {
  policyName: "static",
  machineState: {
    ...plain.machineState,
    "10": {
      numberOfAssignments: 2,
      memoryMap: { memory: table, "hugepages-2Mi": pages, "hugepages-1Gi": pages },
      cells: [2, 10],
    },
    "2": { numberOfAssignments: 0, memoryMap: {}, cells: [2] },
  },
  entries: {
    pod: { container1: [block, { numaAffinity: [2, 10], type: "hugepages-2Mi", size: 0 }], B: [] },
    Apod: { 'x y"z': [block] },
    ünï: {},
  },
  checksum: 1279677445,
};
const empty = { policyName: "Static", machineState: {}, checksum: 3940083781 };

for (const [what, state] of Object.entries({ plain, full, empty })) {
  test(`${what}: read with its checksum, and written with the same`, () => {
    const read = decodeMemoryState(state);
    assert.deepEqual(JSON.parse(encodeMemoryState(read)), state);
    const older = decodeMemoryState({ ...state, checksum: 0 });
    assert.deepEqual(older, read, "a state without checksum is taken as it is");
  });
}

test("a state of a kubelet that can share out memory to whole pods, and did not", () => {
  const { entries } = decodeMemoryState({ ...plain, checksum: 1414536960 });
  assert.equal(entries.get(podUid("pod"))?.get("container1")?.[0]?.size, 512n);
});

test("a state with memory of pods as a whole, with upstream's checksum", () => {
  const state = { ...plain, podEntries: { pod: { memoryBlocks: [block] } }, checksum: 1278640530 };
  const read = decodeMemoryState(state);
  assert.deepEqual(
    read.pods?.get(podUid("pod"))?.map(({ size }) => size),
    [512n],
  );
  assert.deepEqual(JSON.parse(encodeMemoryState(read)), state);
  assert.throws(() => decodeMemoryState({ ...state, podEntries: { pod: { memoryBlocks: [] } } }), /checksum/);
  assert.throws(() => decodeMemoryState({ ...state, podEntries: { pod: 1 } }), /not an object/);
});

const garbage: [string, unknown, RegExp][] = [
  ["another form", [], /not an object/],
  ["no policy", { machineState: {} }, /names no policy/],
  ["a changed size", { ...plain, entries: { pod: { container1: [{ ...block, size: 513 }] } } }, /checksum/],
  [
    "a size that is none",
    { ...plain, entries: { pod: { c: [{ ...block, size: -1 }] } } },
    /size is not a whole number/,
  ],
  ["a node that is none", { ...plain, machineState: { x: plain.machineState["0"] } }, /NUMA node's id/],
  ["blocks that are none", { ...plain, entries: { pod: { c: {} } } }, /pod\/c is not a list/],
];
for (const [what, value, message] of garbage) {
  test(`${what} is no state`, () => {
    assert.throws(() => decodeMemoryState(value), message);
  });
}

test("bytes are exact up to the largest machine", () => {
  const big: MemoryState = {
    policyName: "Static",
    machineState: new Map(),
    entries: new Map([[podUid("u"), new Map([["c", [{ numaAffinity: [0], type: "memory", size: 2n ** 50n + 1n }]]])]]),
  };
  assert.deepEqual(decodeMemoryState(JSON.parse(encodeMemoryState(big))), big);
});
