// docs/reference/metrics.md: the metrics of each page.

import { levelOf } from "../../src/workers/server/metrics/registered-metrics.js";
import { CADVISOR_FAMILIES } from "../../src/workers/server/stats/exposition/cadvisor-families.js";
import { RESOURCE_FAMILIES } from "../../src/workers/server/stats/exposition/resource.js";
import { metricRegistries } from "./metric-rows.js";
import { code, heading, table } from "./table.js";

const HEAD = ["metric", "type", "labels", "level", "meaning"];

export async function metricsPage(): Promise<string> {
  const registries = await metricRegistries();
  const counted = Object.entries(registries).flatMap(([page, { rows }]) => {
    const sorted = [...rows.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    const cells = sorted.map(({ name, type, labels, help }) => [
      code(name),
      type,
      labels.map(code).join(", "),
      levelOf(name) ?? "",
      help,
    ]);
    return [`## ${page}`, "", ...table(HEAD, cells)];
  });
  const resource = Object.entries(RESOURCE_FAMILIES).map(([name, [type, help]]) => {
    const [, level = "", text = help] = /^\[(\w+)\] (.*)$/.exec(help) ?? [];
    return [code(name), type, level, text];
  });
  const cadvisor = Object.entries(CADVISOR_FAMILIES).map(([name, [type, help]]) => [code(name), type, help]);
  return [
    ...heading("Metrics", [
      "Every metric of the kubelet, by page. [Monitoring](../monitoring.md) has a dashboard and alerts.",
      "Names, labels and texts are upstream's; a name with `nodelet_` is our own. A metric appears when its part of the kubelet runs.",
      "The level is upstream's promise of stability; INTERNAL: for developers of the kubelet.",
    ]),
    ...counted,
    "## /metrics/resource",
    "",
    "Labels: `namespace` and `pod` for pods, and `container` for containers.",
    "",
    ...table(["metric", "type", "level", "meaning"], resource),
    "## /metrics/cadvisor",
    "",
    "Labels: `id` of the cgroup, and for pods `namespace`, `pod`, `container`, `name`, `image`; some have more, such as `device` or `interface`.",
    "",
    ...table(["metric", "type", "meaning"], cadvisor),
  ].join("\n");
}
