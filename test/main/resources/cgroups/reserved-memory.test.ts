// The memory that the classes' cgroups are promised, as the metrics show it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { reservedMemoryMetrics } from "../../../../src/main/resources/cgroups/metrics.js";
import { ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";
import { renderExposition } from "../../../../src/workers/server/metrics/merge-metrics.js";

test("memory.min of Guaranteed pods and memory.low of Burstable pods, zero at first", async () => {
  const registry = new ThreadRegistry("main");
  const record = reservedMemoryMetrics(registry);
  const shown = async (): Promise<(string | undefined)[]> => {
    const page = renderExposition([await registry.exportSnapshot()]);
    return ["min", "low"].map(
      (kind) => new RegExp(`^kubelet_memory_qos_node_memory_${kind}_bytes (.*)$`, "m").exec(page)?.[1],
    );
  };
  assert.deepEqual(await shown(), ["0", "0"]);
  record(64n << 20n, 32n << 20n);
  assert.deepEqual(await shown(), [String(64 << 20), String(32 << 20)]);
});
