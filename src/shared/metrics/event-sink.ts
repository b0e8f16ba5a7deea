// What became of the events that went to the API server: silence has to be seen.
import type { ThreadRegistry } from "./thread-registry.js";

export interface EventSinkMetrics {
  sent(): void;
  dropped(why: "full" | "refused" | "unreachable"): void;
}

export function eventSinkMetrics(registry: ThreadRegistry): EventSinkMetrics {
  const sent = registry.counter("nodelet_events_sent_total", "Events that the API server has taken");
  const dropped = registry.counter("nodelet_events_dropped_total", "Events that the API server never got, by why", [
    "why",
  ]);
  return { sent: () => sent.inc(), dropped: (why) => dropped.inc({ why }) };
}
