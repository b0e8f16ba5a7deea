// The runtime's own rows of /metrics/cadvisor (ListPodSandboxMetrics), for the gate PodAndContainerStatsFromCRI. A
// metric that its list of descriptors does not have is left out, as upstream leaves it out.

import { escapeHelp } from "../../../../shared/base/text/escape.js";
import type { CriClient } from "../../../../shared/kubernetes/cri/client.js";
import { MetricType, type Metric, type MetricDescriptor } from "../../../../shared/kubernetes/cri/gen/runtime.v1.js";
import { numberText } from "../../metrics/number-text.js";
import { labelText, type Page } from "./text.js";

const DEADLINE_MS = 3000;
const NANOS_PER_MILLI = 1_000_000n;

export type MetricsRuntime = Pick<CriClient, "listMetricDescriptors" | "listPodSandboxMetrics">;

/** Rejects with a CriError if the runtime does not report them. */
export async function criMetrics(runtime: MetricsRuntime): Promise<(page: Page) => void> {
  const options = { deadlineMs: DEADLINE_MS };
  const [{ descriptors }, { podMetrics }] = await Promise.all([
    runtime.listMetricDescriptors({}, options),
    runtime.listPodSandboxMetrics({}, options),
  ]);
  const known = new Map(descriptors.map((one) => [one.name, one]));
  return (page) => {
    for (const { metrics, containerMetrics } of podMetrics) {
      for (const metric of metrics) addRow(page, known.get(metric.name), metric);
      for (const { metrics: own } of containerMetrics) {
        for (const metric of own) addRow(page, known.get(metric.name), metric);
      }
    }
  };
}

function addRow(page: Page, descriptor: MetricDescriptor | undefined, metric: Metric): void {
  if (descriptor?.labelKeys.length !== metric.labelValues.length) return;
  const { name, help, labelKeys } = descriptor;
  const labels = labelKeys
    .map((key, index) => [key, metric.labelValues[index] ?? ""] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const braces = labels.length === 0 ? "" : `{${labelText(labels)}}`;
  // 0: made for this call, not kept from earlier.
  const at = metric.timestamp === 0n ? "" : ` ${metric.timestamp / NANOS_PER_MILLI}`;
  const type = metric.metricType === MetricType.COUNTER ? "counter" : "gauge";
  page
    .family(name, type, escapeHelp(help))
    .push(`${name}${braces} ${numberText(Number(metric.value?.value ?? 0n))}${at}`);
}
