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

/**
 * Points of one group differ from those of others by a constant: a soak's samples after one attack have their own
 * level.
 */
export type Point = readonly [x: number, y: number, group?: string | undefined];

/** Slope of the straight lines with the least squares, one per group, all parallel: y per x. */
export function slope(points: readonly Point[]): number {
  const { covariance, variance } = fit(points);
  return covariance / variance;
}

/**
 * Standard error of {@link slope}: the uncertainty that comes from the points' distance from the lines. NaN for too few
 * points.
 */
export function slopeError(points: readonly Point[]): number {
  const { offsets, groups, covariance, variance } = fit(points);
  const freedom = points.length - groups - 1;
  if (freedom < 1) return NaN;
  const rise = covariance / variance;
  const squares = offsets.reduce((sum, [x, y]) => sum + (y - rise * x) ** 2, 0);
  return Math.sqrt(squares / freedom / variance);
}

/** `offsets`: of each point from the mean of its group. */
function fit(points: readonly Point[]): Record<"groups" | "covariance" | "variance", number> & {
  offsets: readonly (readonly [x: number, y: number])[];
} {
  const groups = new Set(points.map(([, , group]) => group));
  const offsets = [...groups].flatMap((name) => {
    const group = points.filter(([, , other]) => other === name);
    const mean = (axis: 0 | 1): number => group.reduce((sum, point) => sum + point[axis], 0) / group.length;
    const [meanX, meanY] = [mean(0), mean(1)];
    return group.map(([x, y]) => [x - meanX, y - meanY] as const);
  });
  return {
    ...{ offsets, groups: groups.size },
    covariance: offsets.reduce((sum, [x, y]) => sum + x * y, 0),
    variance: offsets.reduce((sum, [x]) => sum + x ** 2, 0),
  };
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
