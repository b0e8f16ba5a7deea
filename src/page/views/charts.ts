// Usage over time, as small charts with a time axis and the value under the pointer: of the machine, and of containers.
// Pure.

import { bytes, duration, moment } from "../../cli/output/amounts.js";
import { SAMPLE_MS, SAMPLES, type MachineSize, type UsageSample } from "../../shared/contracts/status-page.js";
import { h, type Handler, type VNode } from "../dom/vnode.js";

const WIDTH = 360;
const HEIGHT = 64;
const HOUR_MS = SAMPLE_MS * SAMPLES;
/** A kubelet that started just now has a shorter axis. */
const SHORTEST_MS = 300_000;
const TICKS = 4;
/** A moment that long ago is shown in whole minutes. */
const LONG_MS = 600_000;

export interface TimeView {
  now: number;
  /** The moment whose values are shown, in all charts; undefined: the newest. */
  pointed: number | undefined;
  onPoint: (at: number | undefined) => void;
}

export interface ChartsView extends TimeView {
  samples: readonly UsageSample[];
  machine: MachineSize | undefined;
}

export interface Chart<S> {
  title: string;
  /** The title for screen readers, which do not show the chart's surroundings; absent: as `title`. */
  label?: string;
  value: (sample: S) => number | undefined;
  text: (value: number) => string;
  /** Upper end of the axis; undefined: the largest value. */
  most: number | undefined;
  /** The upper end in words; absent: as `text`. */
  mostText?: string | undefined;
}

interface Point {
  at: number;
  y: number;
}

export function chartsView(view: ChartsView): VNode {
  const { samples, machine } = view;
  const processes = machine?.processes;
  const cpus = machine?.cpus;
  const charts: Chart<UsageSample>[] = [
    {
      title: "CPU",
      value: (sample) => sample.cpus,
      text: (value) => `${value.toFixed(2)} CPUs`,
      most: cpus,
      mostText: cpus === undefined ? undefined : String(cpus),
    },
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
  return chartsOf(charts, samples, view);
}

/** Charts of the same samples, which are in order. */
export function chartsOf<S extends { at: number }>(
  charts: readonly Chart<S>[],
  samples: readonly S[],
  view: TimeView,
): VNode {
  const oldest = samples[0]?.at ?? view.now;
  const width = Math.min(Math.max(view.now - oldest, SHORTEST_MS), HOUR_MS);
  return h(
    "div",
    { class: "charts" },
    charts.map((chart) => chartView(chart, samples, view, width)),
  );
}

function chartView<S extends { at: number }>(
  { title, label = title, value, text, most, mostText }: Chart<S>,
  samples: readonly S[],
  view: TimeView,
  width: number,
): VNode {
  const { now, pointed } = view;
  const points = samples.flatMap((sample): Point[] => {
    const y = value(sample);
    return y === undefined ? [] : [{ at: sample.at, y }];
  });
  const last = points.at(-1);
  const x = (at: number): number => round(Math.min(Math.max(WIDTH - ((now - at) / width) * WIDTH, 0), WIDTH));
  const highest = points.reduce((max, { y }) => Math.max(max, y), 0);
  const top = most === undefined ? highest * 1.2 : Math.max(most, highest);
  const height = (y: number): number => round(HEIGHT - (top === 0 ? 0 : (y / top) * (HEIGHT - 2)) - 1);
  const line = points.map(({ at, y }) => `${x(at)},${height(y)}`);
  const marked = pointed === undefined ? undefined : nearest(points, pointed);
  const shown = marked ?? last;
  const amount = shown === undefined ? "no sample yet" : text(shown.y);
  const of = most === undefined || shown === undefined ? "" : ` of ${mostText ?? text(most)}`;
  const span = points[0] === undefined ? "" : `, at most ${text(highest)} since ${moment(points[0].at)}`;
  return h(
    "figure",
    { key: title, class: "chart" },
    h(
      "figcaption",
      {},
      h("span", {}, title),
      marked !== undefined && h("span", { class: "muted" }, moment(marked.at).slice(11)),
      h("strong", {}, amount),
      h("span", { class: "muted" }, of),
    ),
    h(
      "svg",
      {
        viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
        preserveAspectRatio: "none",
        role: "img",
        tabindex: "0",
        "aria-label": `${label}: ${amount}${of}${span}`,
        on: pointing(view, points, width),
      },
      line.length > 1 &&
        h("polygon", {
          points: `${x(points[0]?.at ?? now)},${HEIGHT} ${line.join(" ")} ${x(last?.at ?? now)},${HEIGHT}`,
        }),
      line.length > 1 && h("polyline", { points: line.join(" "), "vector-effect": "non-scaling-stroke" }),
      marked !== undefined &&
        h("line", { x1: x(marked.at), x2: x(marked.at), y1: 0, y2: HEIGHT, "vector-effect": "non-scaling-stroke" }),
    ),
    h(
      "p",
      { class: "axis muted", "aria-hidden": "true" },
      Array.from({ length: TICKS }, (_, tick) => h("span", {}, tickText((width * (TICKS - 1 - tick)) / (TICKS - 1)))),
    ),
  );
}

function tickText(ago: number): string {
  const unit = ago < LONG_MS ? 1000 : 60_000;
  return ago === 0 ? "now" : `−${duration(Math.round(ago / unit) * unit)}`;
}

function nearest(points: readonly Point[], at: number): Point | undefined {
  return points.reduce<Point | undefined>(
    (best, point) => (best === undefined || Math.abs(point.at - at) < Math.abs(best.at - at) ? point : best),
    undefined,
  );
}

/** The part of the browser's events that is used. */
interface Pointer {
  offsetX: number;
  currentTarget: { clientWidth: number };
}

/** By pointer, and by the arrow keys from sample to sample. */
function pointing(
  { now, pointed, onPoint }: TimeView,
  points: readonly Point[],
  width: number,
): Record<string, Handler> {
  const move = (event: Event): void => {
    const { offsetX, currentTarget } = event as unknown as Pointer;
    onPoint(now - (1 - offsetX / Math.max(currentTarget.clientWidth, 1)) * width);
  };
  const key = (event: Event): void => {
    const { key: pressed } = event as unknown as { key: string };
    const step = pressed === "ArrowLeft" ? -1 : pressed === "ArrowRight" ? 1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const current = pointed === undefined ? points.at(-1) : nearest(points, pointed);
    const next = current === undefined ? undefined : points[points.indexOf(current) + step];
    onPoint(next?.at);
  };
  const leave = (): void => onPoint(undefined);
  return { pointermove: move, pointerleave: leave, keydown: key, blur: leave };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
