import assert from "node:assert/strict";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";
import { cpuSeconds, watchThreadUsage } from "../../../../src/shared/telemetry/metrics/thread-usage.js";

test("user and system time are added for any name of the thread", () => {
  const stat = "12 (a) b (c) S 1 1 1 0 -1 4194560 5 0 0 0 150 50 7 9 20 0 11 0 100 1000 20";
  assert.equal(cpuSeconds(stat), 2);
});

test("a thread's figures are its own", async () => {
  const registry = new ThreadRegistry("main");
  watchThreadUsage(registry);
  const own = async (): Promise<Record<string, number>> =>
    Object.fromEntries(
      (await registry.exportSnapshot()).families.map(({ name, samples }) => [name, samples[0]?.value ?? 0]),
    );
  const before = await own();
  assert.ok((before["nodelet_thread_heap_bytes"] ?? 0) > 1 << 20);
  // Another thread's second of work does not show here.
  const busy = new Worker(
    "const end = process.hrtime.bigint() + 1_000_000_000n; while (process.hrtime.bigint() < end);",
    {
      eval: true,
    },
  );
  await new Promise((resolve, reject) => busy.once("exit", resolve).once("error", reject));
  const after = await own();
  const spent = (after["nodelet_thread_cpu_seconds_total"] ?? 0) - (before["nodelet_thread_cpu_seconds_total"] ?? 0);
  assert.ok(spent < 0.7, String(spent));
});
