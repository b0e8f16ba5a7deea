// How often a thread gave up its own CRI channel.

import type { ThreadRegistry } from "./thread-registry.js";

export interface CriChannelMetrics {
  recordFallback: () => void;
}

export function criChannelMetrics(registry: ThreadRegistry): CriChannelMetrics {
  const fallbacks = registry.counter(
    "nodelet_cri_channel_fallbacks_total",
    "Number of times that a thread changed from its own CRI channel to the one of grpc-js, because the runtime broke HTTP/2",
  );
  return { recordFallback: () => fallbacks.inc() };
}
