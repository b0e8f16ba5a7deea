// Metrics of events sent to the API server, so that lost events are visible.

import type { ThreadRegistry } from "../../../../shared/telemetry/metrics/thread-registry.js";

export interface EventSinkMetrics {
  sent(): void;
  dropped(why: "full" | "refused" | "unreachable"): void;
}

export function eventSinkMetrics(registry: ThreadRegistry): EventSinkMetrics {
  const sent = registry.counter("nodelet_events_sent_total", "Number of events accepted by the API server");
  const dropped = registry.counter(
    "nodelet_events_dropped_total",
    "Number of events that were not sent to the API server, by reason",
    ["why"],
  );
  return { sent: () => sent.inc(), dropped: (why) => dropped.inc({ why }) };
}
