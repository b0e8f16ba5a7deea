// Usage of the machine over the last hour, as small charts. Pure.
import { bytes, moment } from "../../cli/output/amounts.js";
import { SAMPLE_MS, SAMPLES, type MachineSize, type UsageSample } from "../../shared/contracts/status-page.js";
import { h, type VNode } from "../dom/vnode.js";

const WIDTH = 360;
const HEIGHT = 64;
const HOUR_MS = SAMPLE_MS * SAMPLES;
/** A kubelet that started just now has a shorter axis. */
const SHORTEST_MS = 300_000;

interface Chart {
  title: string;
  value: (sample: UsageSample) => number | undefined;
  text: (value: number) => string;
  /** Upper end of the axis; undefined: the largest value. */
  most: number | undefined;
}

export function chartsView(samples: readonly UsageSample[], machine: MachineSize | undefined, now: number): VNode {
  const processes = machine?.processes;
  const charts: Chart[] = [
    { title: "CPU", value: ({ cpus }) => cpus, text: (value) => `${value.toFixed(2)} CPUs`, most: machine?.cpus },
    { title: "Memory", value: ({ memory }) => memory, text: bytes, most: machine?.memory },
    { title: "Disk", value: ({ disk }) => disk, text: bytes, most: machine?.disk },
    {
      title: "Processes",
      value: (sample) => sample.processes,
      text: (value) => `${value}${processes === undefined ? "" : ` of ${processes}`}`,
      most: undefined,
    },
    { title: "Kubelet memory", value: ({ kubelet }) => kubelet, text: bytes, most: undefined },
  ];
  return h(
    "div",
    { class: "charts" },
    charts.map((chart) => chartView(chart, samples, now)),
  );
}

function chartView({ title, value, text, most }: Chart, samples: readonly UsageSample[], now: number): VNode {
  const points = samples.flatMap((sample) => {
    const y = value(sample);
    return y === undefined ? [] : [{ at: sample.at, y }];
  });
  const last = points.at(-1);
  const width = Math.min(Math.max(now - (points[0]?.at ?? now), SHORTEST_MS), HOUR_MS);
  const x = (at: number): number => round(Math.min(Math.max(WIDTH - ((now - at) / width) * WIDTH, 0), WIDTH));
  const highest = points.reduce((max, { y }) => Math.max(max, y), 0);
  const top = most ?? highest * 1.2;
  const line = points.map(({ at, y }) => `${x(at)},${round(HEIGHT - (top === 0 ? 0 : (y / top) * (HEIGHT - 2)) - 1)}`);
  const shown = last === undefined ? "no sample yet" : text(last.y);
  const of = most === undefined || last === undefined ? "" : ` of ${title === "CPU" ? String(most) : text(most)}`;
  const span =
    last === undefined || points[0] === undefined ? "" : `, at most ${text(highest)} since ${moment(points[0].at)}`;
  return h(
    "figure",
    { key: title, class: "chart" },
    h("figcaption", {}, h("span", {}, title), h("strong", {}, shown), h("span", { class: "muted" }, of)),
    h(
      "svg",
      {
        viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
        preserveAspectRatio: "none",
        role: "img",
        "aria-label": `${title}: ${shown}${of}${span}`,
      },
      line.length > 1 &&
        h("polygon", {
          points: `${x(points[0]?.at ?? now)},${HEIGHT} ${line.join(" ")} ${x(last?.at ?? now)},${HEIGHT}`,
        }),
      line.length > 1 && h("polyline", { points: line.join(" "), "vector-effect": "non-scaling-stroke" }),
    ),
  );
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
