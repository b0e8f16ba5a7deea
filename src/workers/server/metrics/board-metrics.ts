// The thread board's figures of each thread, and the pressure conditions of the node, as metrics. This thread reads
// them, so they are right while main or another thread hangs.

import type { ThreadSnapshot } from "../../../shared/base/queue/board.js";
import { PRESSURES } from "../../../shared/contracts/node-status.js";
import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";

export function boardMetrics(registry: ThreadRegistry, threads: () => readonly ThreadSnapshot[]): void {
  const label = ["thread"] as const;
  const age = registry.gauge(
    "nodelet_thread_last_tick_seconds",
    "Time in seconds since the event loop of a thread last turned; a thread ticks every 0.5 s",
    label,
  );
  const delay = registry.gauge(
    "nodelet_thread_loop_delay_max_seconds",
    "Longest event loop delay of a thread in the last 5 s, in seconds",
    label,
  );
  const waiting = registry.gauge(
    "nodelet_thread_waiting_records",
    "Number of records of a thread that wait because the main thread has not taken those before",
    label,
  );
  const pressure = registry.gauge(
    "nodelet_node_pressure",
    "1 while the node is short of memory, disk or process IDs, by condition",
    ["condition"],
  );
  registry.onSnapshot(() => {
    const seen = threads();
    for (const { thread, ageMs, loopDelayMaxMicros, queueDepth } of seen) {
      // A thread that this node does not need has never run; another one rests until there is work for it.
      if (!Number.isFinite(ageMs)) {
        for (const gauge of [age, delay, waiting]) gauge.remove({ thread });
        continue;
      }
      age.set({ thread }, ageMs / 1000);
      delay.set({ thread }, loopDelayMaxMicros / 1e6);
      waiting.set({ thread }, queueDepth);
    }
    const bits = seen.find(({ thread }) => thread === "eviction")?.pressures ?? 0;
    for (const condition of PRESSURES) pressure.set({ condition }, bits & (1 << PRESSURES.indexOf(condition)) ? 1 : 0);
  });
}
