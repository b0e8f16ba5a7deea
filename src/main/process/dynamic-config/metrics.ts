// Metrics of dynamic configuration, as upstream had them up to Kubernetes 1.23.

import {
  configMapLink,
  type ConfigMapReference,
  type NodeConfigReport,
} from "../../../shared/kubernetes/api/config-source.js";
import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";

const LABELS = [
  "node_config_source",
  "node_config_uid",
  "node_config_resource_version",
  "node_config_kubelet_key",
] as const;

/** Returns a function that takes each state. */
export function configMetrics(registry: ThreadRegistry): (report: NodeConfigReport) => void {
  const assigned = registry.gauge(
    "kubelet_node_config_assigned",
    "The node's understanding of intended config. The count is always 1.",
    LABELS,
  );
  const active = registry.gauge(
    "kubelet_node_config_active",
    "The config source the node is actively using. The count is always 1.",
    LABELS,
  );
  const lastKnownGood = registry.gauge(
    "kubelet_node_config_last_known_good",
    "The config source the node will fall back to when it encounters certain errors. The count is always 1.",
    LABELS,
  );
  const error = registry.gauge(
    "kubelet_node_config_error",
    "This metric is true (1) if the node is experiencing a configuration-related error, false (0) otherwise.",
  );
  return (report) => {
    for (const [gauge, reference] of [
      [assigned, report.assigned],
      [active, report.active],
      [lastKnownGood, report.lastKnownGood],
    ] as const) {
      gauge.reset();
      gauge.set(labelsOf(reference), 1);
    }
    error.set(report.error === undefined ? 0 : 1);
  };
}

function labelsOf(reference: ConfigMapReference | undefined): Record<(typeof LABELS)[number], string> {
  return {
    node_config_source: reference === undefined ? "local" : configMapLink(reference),
    node_config_uid: reference?.uid ?? "",
    node_config_resource_version: reference?.resourceVersion ?? "",
    node_config_kubelet_key: reference?.kubeletConfigKey ?? "",
  };
}
