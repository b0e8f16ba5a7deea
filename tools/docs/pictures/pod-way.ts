// A pod's way through the kubelet: boxes on a grid, and arrows between them.

import { path, rect, svg, text } from "./svg.js";

interface Box {
  /** Lines of text. */
  lines: readonly string[];
  column: number;
  row: number;
  kind: "main" | "thread" | "out";
}

const BOXES = {
  file: { lines: ["manifest file, URL", "or request"], column: 0, row: 0, kind: "out" },
  api: { lines: ["API server:", "watch of pods"], column: 2, row: 0, kind: "out" },
  parse: { lines: ["tasks pool:", "parse and check"], column: 0, row: 1, kind: "thread" },
  sources: { lines: ["pod sources: ordered", "add, update, remove"], column: 1, row: 1, kind: "main" },
  loop: { lines: ["syncLoop"], column: 1, row: 2, kind: "main" },
  worker: { lines: ["pod worker", "of the UID"], column: 1, row: 3, kind: "main" },
  admit: { lines: ["admit handlers"], column: 0, row: 3, kind: "main" },
  failed: { lines: ["phase Failed"], column: 0, row: 4, kind: "main" },
  plan: { lines: ["planPod: pod, observed", "state, now → steps"], column: 1, row: 4, kind: "main" },
  doer: { lines: ["doer: CRI calls,", "volumes, cgroups"], column: 1, row: 5, kind: "main" },
  runtime: { lines: ["container runtime", "and kernel"], column: 1, row: 6, kind: "out" },
  pleg: { lines: ["pleg: relist, CRI events,", "cgroup watches"], column: 2, row: 6, kind: "thread" },
  cache: { lines: ["pod cache:", "observed states"], column: 2, row: 4, kind: "main" },
  prober: { lines: ["prober:", "results of probes"], column: 3, row: 2, kind: "thread" },
  status: { lines: ["pod status"], column: 3, row: 4, kind: "main" },
  patch: { lines: ["status manager:", "PATCH, API server"], column: 3, row: 5, kind: "main" },
  port: { lines: ["server thread:", "/pods"], column: 3, row: 6, kind: "thread" },
} as const satisfies Record<string, Box>;

type Name = keyof typeof BOXES;
type Side = "left" | "right" | "top" | "bottom";

interface Arrow {
  from: Name;
  to: Name;
  leave: Side;
  enter: Side;
  /** Stands at the first part of the arrow. */
  label?: string;
  /** Distances from the middle of the side, where two arrows share it. */
  leaveShift?: number;
  enterShift?: number;
}

const ARROWS: readonly Arrow[] = [
  { from: "file", to: "parse", leave: "bottom", enter: "top" },
  { from: "parse", to: "sources", leave: "right", enter: "left" },
  { from: "api", to: "sources", leave: "bottom", enter: "right" },
  { from: "sources", to: "loop", leave: "bottom", enter: "top" },
  { from: "loop", to: "worker", leave: "bottom", enter: "top" },
  { from: "worker", to: "admit", leave: "left", enter: "right", label: "first" },
  { from: "admit", to: "failed", leave: "bottom", enter: "top", label: "rejected" },
  { from: "worker", to: "plan", leave: "bottom", enter: "top", label: "admitted" },
  { from: "plan", to: "doer", leave: "bottom", enter: "top", label: "steps" },
  { from: "doer", to: "runtime", leave: "bottom", enter: "top" },
  { from: "doer", to: "pleg", leave: "right", enter: "top", label: "inspect request", enterShift: -40 },
  { from: "runtime", to: "pleg", leave: "right", enter: "left" },
  { from: "pleg", to: "cache", leave: "top", enter: "bottom", label: "observed state", leaveShift: 40, enterShift: 40 },
  { from: "cache", to: "worker", leave: "top", enter: "right", enterShift: 10 },
  { from: "cache", to: "status", leave: "right", enter: "left" },
  { from: "prober", to: "status", leave: "bottom", enter: "top", label: "results" },
  { from: "prober", to: "worker", leave: "left", enter: "right", enterShift: -10 },
  { from: "status", to: "patch", leave: "bottom", enter: "top" },
  { from: "status", to: "port", leave: "right", enter: "right" },
];

const WIDTH = 170;
const HEIGHT = 46;
const COLUMN = 232;
const ROW = 82;
const MARGIN = 24;

const left = ({ column }: Box): number => MARGIN + column * COLUMN;
const top = ({ row }: Box): number => MARGIN + row * ROW;

function side(box: Box, at: Side, shift = 0): [number, number] {
  const [x, y] = [left(box), top(box)];
  if (at === "left") return [x, y + HEIGHT / 2 + shift];
  if (at === "right") return [x + WIDTH, y + HEIGHT / 2 + shift];
  return [x + WIDTH / 2 + shift, at === "top" ? y : y + HEIGHT];
}

function arrow({ from, to, leave, enter, label, leaveShift, enterShift }: Arrow): string {
  const [x1, y1] = side(BOXES[from], leave, leaveShift);
  const [x2, y2] = side(BOXES[to], enter, enterShift);
  const points: [number, number][] = [[x1, y1]];
  if (leave === "right" && enter === "right") {
    const x = Math.max(x1, x2) + 18;
    points.push([x, y1], [x, y2]);
  } else if ((leave === "bottom" || leave === "top") && (enter === "right" || enter === "left")) points.push([x1, y2]);
  else if (leave === "right" && enter === "top") points.push([x2, y1]);
  else if (y1 !== y2 && leave === "left") points.push([(x1 + x2) / 2 + 96, y1], [(x1 + x2) / 2 + 96, y2]);
  points.push([x2, y2]);
  const [a = [0, 0], b = [0, 0]] = points;
  const middle = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2] as const;
  const vertical = a[0] === b[0];
  const named =
    label === undefined
      ? []
      : [
          text(
            middle[0] + (vertical ? 6 : 0),
            middle[1] + (vertical ? 4 : -5),
            label,
            "small",
            vertical ? "start" : "middle",
          ),
        ];
  return [path(points, "line", true), ...named].join("\n");
}

function box(one: Box): string {
  const kind = one.kind === "thread" ? "box" : `box ${one.kind}`;
  const [x, y] = [left(one) + WIDTH / 2, top(one) + HEIGHT / 2];
  const first = y + 4 - (one.lines.length - 1) * 8;
  const lines = one.lines.map((line, index) => text(x, first + index * 16, line, "", "middle"));
  return [rect(kind, left(one), top(one), WIDTH, HEIGHT, 8), ...lines].join("\n");
}

export function podWay(): string {
  const boxes: readonly Box[] = Object.values(BOXES);
  const columns = Math.max(...boxes.map(({ column }) => column));
  const rows = Math.max(...boxes.map(({ row }) => row));
  const height = MARGIN * 2 + rows * ROW + HEIGHT;
  return svg({
    title: "A pod's way through the kubelet",
    description: ARROWS.map(
      ({ from, to, label }) => `${from} to ${to}${label === undefined ? "" : ` (${label})`}`,
    ).join("; "),
    width: MARGIN * 2 + columns * COLUMN + WIDTH + 16,
    height: height + 24,
    body: [
      ...ARROWS.map(arrow),
      ...boxes.map(box),
      text(
        MARGIN,
        height + 8,
        "yellow: main thread · blue: worker thread or pool · green: outside of the kubelet",
        "small",
      ),
    ],
  });
}
