// `--against <kubelet>`: a section runs by turns with our kubelet and with another one. The median of each kubelet's
// turns stands beside that of the other, with their ratio.
// Invariant: both kubelets have equally many turns, in the order A B B A. So a machine that becomes slower or faster
// meanwhile favours neither.

import type { Report } from "./page.js";
import type { Cell } from "./stats.js";

export type Side = "ours" | "other";

/** `count`: turns of both together, a multiple of 4. Throws RangeError for other counts. */
export function turns(count: number): Side[] {
  if (!Number.isInteger(count) || count < 4 || count % 4 !== 0) {
    throw new RangeError(
      `${count} turns: give a multiple of 4, so that both kubelets have their turns in the order A B B A`,
    );
  }
  return Array.from({ length: count }, (_, turn) => (turn % 4 === 0 || turn % 4 === 3 ? "ours" : "other"));
}

/**
 * The tables of several turns as one list of tables. Each column of figures becomes three: the median of our turns,
 * that of the other's, and ours over the other's. Other columns are those of our first turn. Rows are matched by their
 * first cell; a row or a figure that one side does not have shows no ratio.
 */
export function compare(ours: readonly Report[][], other: readonly Report[][]): Report[] {
  return (ours[0] ?? []).map(({ title, head, rows }) => {
    const [mine, theirs] = [ours, other].map((side) => new Tables(side, title)) as [Tables, Tables];
    const isFigure = head.map((_, column) => column > 0 && mine.hasFigures(column));
    return {
      title: `${title}, beside the other kubelet`,
      head: head.flatMap((name, column) => (isFigure[column] === true ? [name, "other", "ratio"] : [name])),
      rows: rows.map((row) =>
        row.flatMap((cell, column) => {
          if (isFigure[column] !== true) return [cell];
          const [a, b] = [mine.median(row[0], column), theirs.median(row[0], column)];
          return [a, b, ratio(a, b)];
        }),
      ),
    };
  });
}

/** Rounded to 0.01; undefined where one figure is missing or there is nothing to divide by. */
export function ratio(ours: number | undefined, other: number | undefined): number | undefined {
  if (ours === undefined || other === undefined || other === 0) return undefined;
  return Math.round((ours / other) * 100) / 100;
}

/** The tables of one title, of all turns of one side. */
class Tables {
  private readonly rows: (readonly Cell[])[];

  constructor(turnsOfSide: readonly Report[][], title: string) {
    this.rows = turnsOfSide.flatMap((reports) => reports.find((one) => one.title === title)?.rows ?? []);
  }

  hasFigures(column: number): boolean {
    return this.rows.some((row) => typeof row[column] === "number");
  }

  median(label: Cell, column: number): number | undefined {
    const cells = this.rows.filter((row) => row[0] === label).map((row) => row[column]);
    const figures = cells.filter((cell): cell is number => typeof cell === "number" && !Number.isNaN(cell));
    const sorted = figures.toSorted((a, b) => a - b);
    const [low, high] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[Math.floor(sorted.length / 2)]];
    return low === undefined || high === undefined ? undefined : Math.round(((low + high) / 2) * 100) / 100;
  }
}
