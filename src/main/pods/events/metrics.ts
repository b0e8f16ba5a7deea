// Counts recorded and dropped events. Upstream has no such metric, and an operator must see dropped events.

import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";

export interface EventMetrics {
  /** `type`: Normal or Warning. */
  recorded(type: string): void;
  suppressed(): void;
}

export function eventMetrics(registry: ThreadRegistry): EventMetrics {
  const recorded = registry.counter(
    "nodelet_events_recorded_total",
    "Number of recorded events, including repeated ones",
    ["type"],
  );
  const suppressed = registry.counter(
    "nodelet_events_suppressed_total",
    "Number of events suppressed by the spam filter",
  );
  return {
    recorded: (type) => recorded.inc({ type }),
    suppressed: () => suppressed.inc(),
  };
}
