// reservedMemory against the node's other reservations and its NUMA nodes.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  reservedMemory,
  type ReservationSettings,
} from "../../../../src/main/resources/memory-manager/reserved-memory.js";
import { machine } from "../topology/machines.js";

const settings = (fields: Partial<ReservationSettings>): ReservationSettings => ({
  reservedMemory: [
    { numaNode: 0, limits: { memory: "1Gi" } },
    { numaNode: 1, limits: { memory: "100Mi" } },
  ],
  kubeReserved: { memory: "512Mi" },
  systemReserved: { memory: "512Mi", cpu: "1" },
  evictionHard: { "memory.available": "100Mi" },
  allocatableIgnoresEviction: false,
  memoryBytes: 8n << 30n,
  ...fields,
});
const two = machine([{ id: 0 }, { id: 1 }]);

test("per node and kind, if the sum is the reserved amount", () => {
  const reserved = reservedMemory(settings({}), two);
  assert.deepEqual([...(reserved.get(0) ?? [])], [["memory", 1n << 30n]]);
  assert.deepEqual([...(reserved.get(1) ?? [])], [["memory", 100n << 20n]]);
  // A percentage is of the whole memory, in single precision as upstream computes it.
  const percent = { evictionHard: { "memory.available": "5%" }, kubeReserved: {}, systemReserved: {} };
  const limits = { memory: String(Math.trunc(2 ** 33 * Math.fround(0.05))) };
  assert.doesNotThrow(() => reservedMemory(settings({ ...percent, reservedMemory: [{ numaNode: 0, limits }] }), two));
});

test("with --experimental-allocatable-ignore-eviction the hard threshold is not kept back", () => {
  const fields = { allocatableIgnoresEviction: true, reservedMemory: [{ numaNode: 0, limits: { memory: "1Gi" } }] };
  assert.doesNotThrow(() => reservedMemory(settings(fields), two));
  assert.throws(() => reservedMemory(settings({ ...fields, allocatableIgnoresEviction: false }), two), /"1124Mi"/);
});

const refused: [string, Partial<ReservationSettings>, RegExp][] = [
  [
    "another sum",
    { kubeReserved: {} },
    /the total amount "1124Mi" of type "memory" is not equal to the value "612Mi" determined by Node Allocatable feature/,
  ],
  [
    "huge pages, of which nothing is kept back",
    { reservedMemory: [{ numaNode: 0, limits: { memory: "1124Mi", "hugepages-2Mi": "2Mi" } }] },
    /the total amount "2Mi" of type "hugepages-2Mi" is not equal to the value "0"/,
  ],
  [
    "a node that does not exist",
    { reservedMemory: [{ numaNode: 7, limits: { memory: "1124Mi" } }] },
    /references a NUMA node 7 that does not exist on this machine: name only 0, 1/,
  ],
  [
    "nothing at all",
    { reservedMemory: [], kubeReserved: {}, systemReserved: {}, evictionHard: {} },
    /you should specify the system reserved memory/,
  ],
];
for (const [what, fields, message] of refused) {
  test(`${what} is refused`, () => {
    assert.throws(() => reservedMemory(settings(fields), two), { name: "OperatorError", message });
  });
}
