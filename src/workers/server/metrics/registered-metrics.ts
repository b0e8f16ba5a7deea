// registered_metrics_total: how many metrics this kubelet has, by stability level. Upstream counts them as they are
// registered; here several threads register the same metric, so the merged families of a page are counted. A metric
// without a sample counts, too. No metric of this kubelet is deprecated.
// https://kubernetes.io/docs/concepts/cluster-administration/system-metrics/

import type { MetricFamily } from "../../../shared/telemetry/metrics/snapshot.js";

const NAME = "registered_metrics_total";
const HELP = "The count of registered metrics broken by stability level and deprecation version";

/** Metrics of level STABLE: those of /metrics/slis. */
const STABLE = new Set(["kubernetes_healthcheck", "kubernetes_healthchecks_total"]);
/** Metrics and prefixes of level BETA; all others of upstream's are ALPHA. */
const BETA = new Set([
  NAME,
  "disabled_metrics_total",
  "hidden_metrics_total",
  "kubelet_image_volume_mounted_errors_total",
  "kubelet_image_volume_mounted_succeed_total",
  "kubelet_image_volume_requested_total",
  "kubernetes_build_info",
  "kubernetes_feature_enabled",
  "prober_probe_total",
]);
const BETA_PREFIX = "workqueue_";
/** For developers of the kubelet; other readers must not rely on them. */
const INTERNAL = new Set(["kubelet_first_network_pod_start_sli_duration_seconds"]);
const INTERNAL_PREFIX = "nodelet_";
/** Metrics of the process and the language's runtime: no level. */
const WITHOUT_LEVEL = /^(?:go|process|nodejs)_/;

/** The family for a page with these families. */
export function registeredFamily(families: readonly Pick<MetricFamily, "name">[]): MetricFamily {
  const counts = new Map<string, number>([[levelOf(NAME) ?? "", 1]]);
  for (const { name } of families) {
    const level = levelOf(name);
    if (level !== undefined) counts.set(level, (counts.get(level) ?? 0) + 1);
  }
  const samples = [...counts].map(([stability_level, value]) => ({
    value,
    labels: { stability_level, deprecated_version: "" },
  }));
  return { name: NAME, help: HELP, type: "counter", samples };
}

/** undefined: the metric has no level. */
export function levelOf(name: string): "ALPHA" | "BETA" | "STABLE" | "INTERNAL" | undefined {
  if (WITHOUT_LEVEL.test(name)) return undefined;
  if (INTERNAL.has(name) || name.startsWith(INTERNAL_PREFIX)) return "INTERNAL";
  if (STABLE.has(name)) return "STABLE";
  return BETA.has(name) || name.startsWith(BETA_PREFIX) ? "BETA" : "ALPHA";
}
