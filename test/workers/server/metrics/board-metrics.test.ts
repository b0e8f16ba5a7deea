// Metrics made of the thread board: threads that run, and the pressures of the node.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { ThreadSnapshot } from "../../../../src/shared/base/queue/board.js";
import { pressureBits } from "../../../../src/shared/contracts/eviction.js";
import { ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";
import { boardMetrics } from "../../../../src/workers/server/metrics/board-metrics.js";

const thread = (name: string, fields: Partial<ThreadSnapshot> = {}): ThreadSnapshot => ({
  ...{ thread: name, state: "running", generation: 1, ageMs: 250, loopDelayMaxMicros: 1500, loopDelayMeanMicros: 10 },
  ...{ queueDepth: 3, op: 0, opAgeMs: 0, workAgeMs: Infinity, pressures: 0 },
  ...fields,
});

async function values(threads: readonly ThreadSnapshot[]): Promise<Record<string, number>> {
  const registry = new ThreadRegistry("server");
  boardMetrics(registry, () => threads);
  const snapshot = await registry.exportSnapshot();
  return Object.fromEntries(
    snapshot.families.flatMap(({ name, samples }) =>
      samples.map(({ labels, value }) => [`${name} ${Object.values(labels).join()}`, value]),
    ),
  );
}

test("a thread has its last tick, its delay and its waiting records; one that never ran has none", async () => {
  const seen = await values([thread("pleg"), thread("node-status", { ageMs: Infinity })]);
  assert.equal(seen["nodelet_thread_last_tick_seconds pleg"], 0.25);
  assert.equal(seen["nodelet_thread_loop_delay_max_seconds pleg"], 0.0015);
  assert.equal(seen["nodelet_thread_waiting_records pleg"], 3);
  assert.equal(seen["nodelet_thread_last_tick_seconds node-status"], undefined);
});

test("each condition is 1 while the eviction thread reports it, else 0", async () => {
  const seen = await values([thread("eviction", { pressures: pressureBits(["DiskPressure"]) })]);
  assert.equal(seen["nodelet_node_pressure DiskPressure"], 1);
  assert.equal(seen["nodelet_node_pressure MemoryPressure"], 0);
  assert.equal(seen["nodelet_node_pressure PIDPressure"], 0);
});
