import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { nodeAllocatable, nodeCapacity, podCapacity } from "../../../src/main/resources/node-capacity.js";
import type { EvictionThreshold } from "../../../src/shared/kubernetes/api/eviction-threshold.js";
import { parseQuantity, printQuantity } from "../../../src/shared/kubernetes/api/quantity.js";

const capacity = nodeCapacity({
  cpuCount: 4,
  memoryBytes: 8n << 30n,
  storageBytes: 1000n,
  maxPods: 110,
  hugePages: new Map([
    [2n << 20n, 1n << 30n],
    [1n << 30n, 0n],
  ]),
});
const hard = (signal: EvictionThreshold["signal"], value: EvictionThreshold["value"]): EvictionThreshold => ({
  signal,
  value,
  graceMs: 0,
  hard: true,
});
const shown = (resources: ReturnType<typeof nodeCapacity>): Record<string, string> =>
  Object.fromEntries([...resources].map(([name, quantity]) => [name, printQuantity(quantity)]));

describe("allocatable resources", () => {
  test("is the capacity, without huge pages where nothing is reserved", () => {
    assert.deepEqual(shown(nodeAllocatable(capacity, [], [])), {
      cpu: "4",
      memory: "7Gi",
      "ephemeral-storage": "1k",
      pods: "110",
      "hugepages-2Mi": "1Gi",
      "hugepages-1Gi": "0",
    });
  });
  test("leaves out reserved amounts and the amounts that hard thresholds keep free", () => {
    const reserved = [{ cpu: parseQuantity("500m"), memory: parseQuantity("1Gi") }, { memory: parseQuantity("512Mi") }];
    const thresholds = [
      hard("memory.available", { kind: "quantity", units: 512n << 20n }),
      hard("nodefs.available", { kind: "percent", percent: 10 }),
      { ...hard("memory.available", { kind: "quantity", units: 4n << 30n }), hard: false },
    ];
    const { cpu, memory, "ephemeral-storage": storage } = shown(nodeAllocatable(capacity, reserved, thresholds));
    assert.deepEqual([cpu, memory, storage], ["3500m", "5Gi", "900"]);
  });
  test("is never less than nothing", () => {
    const reserved = [{ memory: parseQuantity("100Gi"), cpu: parseQuantity("100") }];
    const { cpu, memory } = shown(nodeAllocatable(capacity, reserved, []));
    assert.deepEqual([cpu, memory], ["0", "0"]);
  });
});

test("pods per core bound the number of pods, 0 does not", () => {
  assert.equal(podCapacity(110, 0, 2), 110);
  assert.equal(podCapacity(110, 10, 2), 20);
  assert.equal(podCapacity(110, 100, 2), 110);
});
