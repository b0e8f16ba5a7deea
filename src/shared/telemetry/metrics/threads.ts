// Our own metrics of nodelet: queues, threads, stale messages. Each carries the name of its queue or thread, so that
// adding up the threads' snapshots keeps them apart.

import { makeMetrics, type MetricRows, type MetricsOf } from "./metric-rows.js";
import type { ThreadRegistry } from "./thread-registry.js";

/** Totals since the queue was made, as its writer or reader keeps them. */
export interface QueueTotals {
  pushed: number;
  coalesced: number;
  dropped: number;
  /** Records waiting now. */
  pending: number;
}

/** Publishes a queue's totals at each snapshot. Exactly one end of a queue calls this, or its figures double. */
export function watchQueue(registry: ThreadRegistry, queue: string, read: () => QueueTotals): void {
  const labels = ["queue"] as const;
  const pushed = registry.counter("nodelet_queue_pushed_total", "Number of records pushed into a queue", labels);
  const coalesced = registry.counter(
    "nodelet_queue_coalesced_total",
    "Number of records merged into a pending record of the same key",
    labels,
  );
  const dropped = registry.counter(
    "nodelet_queue_dropped_total",
    "Number of records dropped because the queue was full",
    labels,
  );
  const depth = registry.gauge("nodelet_queue_depth", "Number of records pending in a queue", labels);
  let seen: QueueTotals = { pushed: 0, coalesced: 0, dropped: 0, pending: 0 };
  registry.onSnapshot(() => {
    const totals = read();
    pushed.inc({ queue }, Math.max(0, totals.pushed - seen.pushed));
    coalesced.inc({ queue }, Math.max(0, totals.coalesced - seen.coalesced));
    dropped.inc({ queue }, Math.max(0, totals.dropped - seen.dropped));
    depth.set({ queue }, totals.pending);
    seen = { ...totals };
  });
}

/** Publishes the number of log lines that each thread lost to a full ring; `read` returns totals by thread. */
function watchDroppedLines(registry: ThreadRegistry, read: () => ReadonlyMap<string, number>): void {
  const name = "nodelet_log_lines_dropped_total";
  const dropped = registry.counter(name, "Number of log lines dropped because the output was blocked", ["thread"]);
  const seen = new Map<string, number>();
  registry.onSnapshot(() => {
    for (const [thread, total] of read()) {
      dropped.inc({ thread }, Math.max(0, total - (seen.get(thread) ?? 0)));
      seen.set(thread, total);
    }
  });
}

/** Publishes how many pods are still to be sent to each thread. */
function watchPodsBehind(registry: ThreadRegistry, read: () => Iterable<readonly [string, number]>): void {
  const help = "Number of pods whose newest version is still to be sent to the thread";
  const behind = registry.gauge("nodelet_thread_pods_behind", help, ["thread"]);
  registry.onSnapshot(() => {
    for (const [thread, pods] of read()) behind.set({ thread }, pods);
  });
}

const THREAD_METRICS = {
  /** Restarts of a worker thread; counted by the supervisor. `reason` is the exit's cause. */
  restarts: (registry) =>
    registry.counter("nodelet_thread_restarts_total", "Number of restarts of a worker thread, by reason", [
      "thread",
      "reason",
    ]),
  /** Errors that no caller caught and that the thread outlived. */
  uncaught: (registry) =>
    registry.counter("nodelet_uncaught_errors_total", "Number of uncaught errors after which a thread continued", [
      "thread",
      "origin",
    ]),
  /** Messages dropped because their generation or pod UID was outdated. */
  stale: (registry) =>
    registry.counter("nodelet_stale_messages_total", "Number of messages dropped because they were outdated", [
      "thread",
      "kind",
    ]),
} satisfies MetricRows;

export interface ThreadMetrics extends MetricsOf<typeof THREAD_METRICS> {
  /** Has the pods published that each thread waits for; `read` gives a number for each thread that gets pods. */
  watchPodsBehind(read: () => Iterable<readonly [thread: string, pods: number]>): void;
  /** Has the log's losses published. */
  watchDroppedLines(read: () => ReadonlyMap<string, number>): void;
}

export function threadMetrics(registry: ThreadRegistry): ThreadMetrics {
  return {
    watchPodsBehind: (read) => watchPodsBehind(registry, read),
    watchDroppedLines: (read) => watchDroppedLines(registry, read),
    ...makeMetrics(THREAD_METRICS, registry),
  };
}
