// kubelet_http_requests_* and kubelet_http_inflight_requests, with upstream's bounded label values.

import type { Clock } from "../../../shared/base/clock/clock.js";
import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";
import { treeOf } from "../http/paths.js";

const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "CONNECT", "OPTIONS", "TRACE"]);
const METRICS_PATHS = new Set(["metrics/cadvisor", "metrics/probes", "metrics/resource"]);

export interface HttpMetrics {
  /** Counts a request in; call the result after its response. */
  countRequest(method: string, path: string): () => void;
}

export function httpMetrics(registry: ThreadRegistry, clock: Clock, serverType: "readonly" | "readwrite"): HttpMetrics {
  const names = ["method", "path", "server_type", "long_running"] as const;
  const total = registry.counter(
    "kubelet_http_requests_total",
    "Number of HTTP requests received since the server started",
    names,
  );
  const inflight = registry.gauge("kubelet_http_inflight_requests", "Number of in-flight HTTP requests", names);
  const duration = registry.histogram(
    "kubelet_http_requests_duration_seconds",
    "Duration in seconds to serve HTTP requests",
    names,
  );
  return {
    countRequest(method, path) {
      const label = pathLabel(path);
      const labels = {
        method: METHODS.has(method) ? method : "other",
        path: label,
        server_type: serverType,
        long_running: String(treeOf(label)?.longRunning === true),
      };
      const startedAt = clock.monotonic();
      inflight.inc(labels);
      let open = true;
      return () => {
        if (!open) return;
        open = false;
        inflight.dec(labels);
        total.inc(labels);
        duration.observe(labels, (clock.monotonic() - startedAt) / 1000);
      };
    },
  };
}

/** The path's bounded label: its first segment if paths.ts has it, metrics with its second, else "other". */
function pathLabel(path: string): string {
  const [first = "", second = ""] = path.split("/").slice(1);
  if (first === "metrics" && METRICS_PATHS.has(`metrics/${second}`)) return `metrics/${second}`;
  return treeOf(first) === undefined ? "other" : first;
}
