// Event-loop delay of this thread, as quantiles since the last snapshot. A sync waits for so long in addition to its
// work.

import { monitorEventLoopDelay } from "node:perf_hooks";
import type { ThreadRegistry } from "../../shared/telemetry/metrics/thread-registry.js";

/** Sampled natively, without waking JavaScript. */
const RESOLUTION_MS = 50;

const QUANTILES = [0.5, 0.9, 0.99, 1];

/** Publishes the summary `nodelet_loop_delay_seconds{thread}`. Returns a function that ends the sampling. */
export function watchLoopDelay(registry: ThreadRegistry): () => void {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  const seconds = (nanos: number): number => Math.max(0, nanos / 1e9 - RESOLUTION_MS / 1000);
  let [sum, count] = [0, 0];
  const help = "Event loop delay since the last scrape in seconds";
  registry.summary("nodelet_loop_delay_seconds", help, ["thread"], () => {
    const quantiles = QUANTILES.map((quantile) => {
      const nanos = quantile === 1 ? histogram.max : histogram.percentile(quantile * 100);
      return [quantile, seconds(nanos)] as const;
    });
    // Without a sample the mean is NaN.
    if (histogram.count > 0) sum += seconds(histogram.mean) * histogram.count;
    count += histogram.count;
    histogram.reset();
    return [{ labels: { thread: registry.thread }, quantiles, sum, count }];
  });
  return () => histogram.disable();
}
