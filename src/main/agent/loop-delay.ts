// Event-loop delay of this thread, as quantiles since the last snapshot: what a sync waits for on top of its own work.
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { ThreadRegistry } from "../../shared/metrics/thread-registry.js";

/** Sampled natively, without waking JavaScript. */
const RESOLUTION_MS = 50;

/** Publishes `nodelet_loop_delay_seconds{thread, quantile}`. Returns how to end the sampling. */
export function watchLoopDelay(registry: ThreadRegistry): () => void {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  const gauge = registry.gauge("nodelet_loop_delay_seconds", "Event loop delay since the last scrape in seconds", [
    "thread",
    "quantile",
  ]);
  const seconds = (nanos: number): number => Math.max(0, nanos / 1e9 - RESOLUTION_MS / 1000);
  registry.onSnapshot(() => {
    const { thread } = registry;
    for (const quantile of [50, 90, 99]) {
      gauge.set({ thread, quantile: String(quantile / 100) }, seconds(histogram.percentile(quantile)));
    }
    gauge.set({ thread, quantile: "1" }, seconds(histogram.max));
    histogram.reset();
  });
  return () => histogram.disable();
}
