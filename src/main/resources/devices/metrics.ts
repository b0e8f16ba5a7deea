// Device plugins as operators of other kubelets know them. Main thread only.

import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";

export interface DeviceMetrics {
  /** The plugin of a resource that is, or was, connected requested registration, with any result. */
  registered(resource: string): void;
  /** An Allocate call ended. */
  allocated(resource: string, durationMs: number): void;
}

export function deviceMetrics(registry: ThreadRegistry): DeviceMetrics {
  const registrations = registry.counter(
    "kubelet_device_plugin_registration_total",
    "Cumulative number of device plugin registrations. Broken down by resource name.",
    ["resource_name"],
  );
  const seconds = registry.histogram(
    "kubelet_device_plugin_alloc_duration_seconds",
    "Duration in seconds to serve a device plugin Allocation request. Broken down by resource name.",
    ["resource_name"],
  );
  return {
    registered: (resource_name) => registrations.inc({ resource_name }),
    allocated: (resource_name, durationMs) => seconds.observe({ resource_name }, durationMs / 1000),
  };
}
