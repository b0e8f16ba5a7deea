// CPU and memory of each container over time, against its limits. Pure.

import { bytes } from "../../cli/output/amounts.js";
import type { ContainerView } from "../../cli/why/input.js";
import { h, type VNode } from "../dom/vnode.js";
import type { PodSample } from "../usage-history.js";
import { chartsOf, type Chart, type TimeView } from "./charts.js";
import { note } from "./parts.js";
import { containerLimit, cpuText } from "./usage.js";

/** Containers whose charts are shown. */
const MOST = 20;

export function containerCharts(
  containers: readonly ContainerView[],
  samples: readonly PodSample[],
  view: TimeView,
): VNode[] {
  // Init containers that have ended use nothing.
  const used = new Set(samples.flatMap((sample) => sample.containers.map(({ name }) => name)));
  const shown = containers.filter(({ container }) => used.has(container.name));
  if (shown.length === 0) return [note("No usage has been read yet.")];
  const left = shown.length - MOST;
  return [
    ...shown
      .slice(0, MOST)
      .map(({ container }) =>
        h("div", { key: container.name }, h("h3", {}, container.name), chartsOf(chartsFor(container), samples, view)),
      ),
    ...(left > 0 ? [note(`${left} more containers are not shown.`)] : []),
  ];
}

function chartsFor(container: ContainerView["container"]): Chart<PodSample>[] {
  const { name } = container;
  const of = ({ containers }: PodSample): PodSample["containers"][number] | undefined =>
    containers.find((one) => one.name === name);
  return [
    {
      title: "CPU",
      label: `CPU of ${name}`,
      value: (sample) => of(sample)?.cpu,
      text: cpuText,
      most: containerLimit(container, "cpu"),
    },
    {
      title: "Memory",
      label: `Memory of ${name}`,
      value: (sample) => of(sample)?.memory,
      text: bytes,
      most: containerLimit(container, "memory"),
    },
  ];
}
