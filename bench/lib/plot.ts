// Lines over time as an SVG. Each figure has a panel with its own scale and the straight line that fits it best.

import { round, slope, type Point } from "./stats.js";

export interface Curve {
  title: string;
  /** Minutes and value. */
  points: readonly Point[];
}

const [WIDTH, HEIGHT, LEFT, TOP, GAP] = [420, 130, 60, 24, 40];
const COLUMNS = 2;

/** `from`: where the fit begins. */
export function plot(curves: readonly Curve[], from: number): string {
  const rows = Math.ceil(curves.length / COLUMNS);
  const [width, height] = [COLUMNS * (WIDTH + LEFT + GAP), rows * (HEIGHT + TOP + GAP)];
  const panels = curves.map((curve, index) => {
    const x = (index % COLUMNS) * (WIDTH + LEFT + GAP) + LEFT;
    const y = Math.floor(index / COLUMNS) * (HEIGHT + TOP + GAP) + TOP;
    return `<g transform="translate(${x} ${y})">${panel(curve, from)}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-size="12" font-family="sans-serif">
${panels.join("\n")}
</svg>`;
}

function panel({ title, points }: Curve, from: number): string {
  const ys = points.map(([, y]) => y);
  const last = Math.max(...points.map(([x]) => x), 1e-9);
  // A flat line lies in the middle, not on a magnified noise.
  const middle = (Math.min(...ys) + Math.max(...ys)) / 2;
  const reach = Math.max((Math.max(...ys) - Math.min(...ys)) / 2, 2);
  const at = (x: number, y: number): string =>
    `${round((x / last) * WIDTH)},${round(((middle + reach - y) / (2 * reach)) * HEIGHT)}`;
  const fitted = points.filter(([x]) => x >= from);
  const label = (value: number, y: number): string => `<text x="-6" y="${y}" text-anchor="end">${round(value)}</text>`;
  return `<rect width="${WIDTH}" height="${HEIGHT}" fill="none" stroke="#ccc"/>
<text y="-7" font-weight="bold">${title}</text>${label(middle + reach, 10)}${label(middle - reach, HEIGHT)}
<text x="${WIDTH}" y="${HEIGHT + 15}" text-anchor="end">${round(last)} min</text>
<polyline points="${points.map(([x, y]) => at(x, y)).join(" ")}" fill="none" stroke="#356"/>
${fitted.length < 2 ? "" : line(fitted, at)}`;
}

function line(points: Curve["points"], at: (x: number, y: number) => string): string {
  const mean = (axis: 0 | 1): number => points.reduce((sum, point) => sum + point[axis], 0) / points.length;
  const rise = slope(points);
  const y = (x: number): number => mean(1) + rise * (x - mean(0));
  const [first = 0, last = 0] = [points[0]?.[0], points.at(-1)?.[0]];
  return `<polyline points="${at(first, y(first))} ${at(last, y(last))}" fill="none" stroke="#c33" stroke-dasharray="4 3"/>`;
}
