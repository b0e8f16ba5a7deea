// Streams that the kubelet itself translates between a client's WebSocket and the runtime.

import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";

export interface StreamMetrics {
  websocket(subresource: "exec" | "attach" | "portforward"): void;
}

export function streamMetrics(registry: ThreadRegistry): StreamMetrics {
  const requests = registry.counter(
    "kubelet_websocket_streaming_requests_total",
    "Number of websocket streaming requests by subresource, terminated at the kubelet",
    ["subresource"],
  );
  return { websocket: (subresource) => requests.inc({ subresource }) };
}
