// Figures of a series, and how they are shown.

export interface Summary {
  n: number;
  min: number;
  p50: number;
  p90: number;
  p99: number;
  max: number;
}

/** Nearest-rank percentiles; milliseconds in, milliseconds out, rounded to 0.1. */
export function summarize(values: readonly number[]): Summary {
  const sorted = values.toSorted((a, b) => a - b);
  const rank = (p: number): number => round(sorted[Math.max(0, Math.ceil(p * sorted.length) - 1)] ?? NaN);
  return { n: sorted.length, min: rank(0), p50: rank(0.5), p90: rank(0.9), p99: rank(0.99), max: rank(1) };
}

export function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Slope of the straight line with the least squares: y per x. */
export function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (axis: 0 | 1): number => points.reduce((sum, point) => sum + point[axis], 0) / points.length;
  const [meanX, meanY] = [mean(0), mean(1)];
  const covariance = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  return covariance / points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
}

/** Standard error of {@link slope}: the uncertainty that comes from the points' distance from the line. NaN for less than three points. */
export function slopeError(points: readonly (readonly [x: number, y: number])[]): number {
  const count = points.length;
  if (count < 3) return NaN;
  const mean = (axis: 0 | 1): number => points.reduce((sum, point) => sum + point[axis], 0) / count;
  const [meanX, meanY, rise] = [mean(0), mean(1), slope(points)];
  const squares = points.reduce((sum, [x, y]) => sum + (y - meanY - rise * (x - meanX)) ** 2, 0);
  return Math.sqrt(squares / (count - 2) / points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0));
}

export type Cell = string | number | undefined;

/** A table in Markdown form, columns padded. */
export function table(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const text = [head, ...rows].map((row) => row.map((cell) => (cell === undefined ? "–" : String(cell))));
  const widths = head.map((_, column) => Math.max(...text.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(" | ")} |`;
  const rule = `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`;
  return [line(text[0] ?? []), rule, ...text.slice(1).map(line)].join("\n");
}
