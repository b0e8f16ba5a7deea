// /metrics/resource: what schedulers and autoscalers read. Samples carry the time of their reading.

import { numberText } from "../../metrics/number-text.js";
import { shownPods, type ContainerReading, type NodeReadings, type PodReading, type Reading } from "../readings.js";
import { labelText, Page } from "./text.js";

const NANOS = 1e9;

/** Type and help by name; the help begins with the level. */
export const RESOURCE_FAMILIES = {
  container_cpu_usage_seconds_total: [
    "counter",
    "[STABLE] Cumulative cpu time consumed by the container in core-seconds",
  ],
  container_memory_working_set_bytes: ["gauge", "[STABLE] Current working set of the container in bytes"],
  container_start_time_seconds: ["gauge", "[STABLE] Start time of the container since unix epoch in seconds"],
  container_swap_limit_bytes: [
    "gauge",
    "[ALPHA] Current amount of the container swap limit in bytes. Reported only on non-windows systems",
  ],
  container_swap_usage_bytes: [
    "gauge",
    "[ALPHA] Current amount of the container swap usage in bytes. Reported only on non-windows systems",
  ],
  node_cpu_usage_seconds_total: ["counter", "[STABLE] Cumulative cpu time consumed by the node in core-seconds"],
  node_memory_working_set_bytes: ["gauge", "[STABLE] Current working set of the node in bytes"],
  node_swap_usage_bytes: [
    "gauge",
    "[ALPHA] Current swap usage of the node in bytes. Reported only on non-windows systems",
  ],
  pod_cpu_usage_seconds_total: ["counter", "[STABLE] Cumulative cpu time consumed by the pod in core-seconds"],
  pod_memory_working_set_bytes: ["gauge", "[STABLE] Current working set of the pod in bytes"],
  pod_swap_usage_bytes: [
    "gauge",
    "[ALPHA] Current amount of the pod swap usage in bytes. Reported only on non-windows systems",
  ],
  resource_scrape_error: ["gauge", "[STABLE] 1 if there was an error while getting container metrics, 0 otherwise"],
} as const;

/** @param readings undefined: the cgroups could not be read */
export function resourcePage(readings: NodeReadings | undefined): Page {
  const page = new Page();
  const row = (name: keyof typeof RESOURCE_FAMILIES, labels: string, value: number | undefined, at?: number): void => {
    if (value === undefined) return;
    const [type, help] = RESOURCE_FAMILIES[name];
    const braces = labels === "" ? "" : `{${labels}}`;
    page.family(name, type, help).push(`${name}${braces} ${numberText(value)}${at === undefined ? "" : ` ${at}`}`);
  };
  const rows = (kind: "node" | "pod" | "container", labels: string, { at, cpu, memory }: Reading): void => {
    row(`${kind}_cpu_usage_seconds_total`, labels, cpu === undefined ? undefined : cpu.usage / NANOS, at);
    row(`${kind}_memory_working_set_bytes`, labels, memory?.workingSet, at);
    row(`${kind}_swap_usage_bytes`, labels, memory?.swap, at);
  };
  if (readings !== undefined) {
    rows("node", "", readings.root);
    for (const pod of shownPods(readings)) {
      rows("pod", labelText(podLabels(pod)), pod.reading);
      for (const container of pod.containers) {
        const labels = labelText([["container", container.place.name], ...podLabels(pod)]);
        rows("container", labels, container.reading);
        row("container_start_time_seconds", labels, startSeconds(container));
        row("container_swap_limit_bytes", labels, container.reading.memory?.swapLimit, container.reading.at);
      }
    }
  }
  row("resource_scrape_error", "", readings === undefined ? 1 : 0);
  return page;
}

function podLabels({ place }: PodReading): [string, string][] {
  const { namespace, name } = place.pod.metadata;
  return [
    ["namespace", namespace],
    ["pod", name],
  ];
}

function startSeconds({ place }: ContainerReading): number | undefined {
  return place.startedAt === undefined ? undefined : place.startedAt / 1000;
}
