// Tables and colours for a terminal. Pure. A table that is wider than the terminal has its widest columns wrapped.

import { oneLine } from "../../shared/base/text/printable.js";
import { columnWidths, foldedCell, longestPart } from "./fold.js";

export interface Column<Row> {
  title: string;
  text: (row: Row) => string;
  /** Paints each line of the finished cell. */
  paint?: (row: Row, text: string) => string;
  /** Sentences: where the table does not fit, they stand below their row. */
  below?: true;
}

const GAP = "   ";
/** Where the columns do not fit. */
const NARROW_GAP = "  ";
const BELOW = "    ";

/** `width`: of the terminal; Infinity: each row is one line. */
export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width = Infinity): string {
  const cells = cellsOf(columns, rows);
  const natural = columnWidths(cells, Infinity);
  const gaps = columns.length - 1;
  if (natural.reduce((sum, one) => sum + one, GAP.length * gaps) <= width) {
    return `${rowLines(columns, rows, cells, { gap: GAP, widths: natural }).flat().join("\n")}\n`;
  }
  const beside = columns.filter(({ below }) => below === undefined);
  const short = cellsOf(beside, rows);
  const widths = columnWidths(short, width - NARROW_GAP.length * (beside.length - 1));
  if (breaksWords(short, widths)) return records(columns, rows, cells, width);
  const [head = [], ...body] = rowLines(beside, rows, short, { gap: NARROW_GAP, widths });
  const below = columns.filter((column) => column.below !== undefined);
  const whole = rows.flatMap((row, index) => [
    ...(body[index] ?? []),
    ...below.flatMap(({ text, paint }) =>
      foldedCell(oneLine(text(row)), width - BELOW.length).map((line) => `${BELOW}${paint?.(row, line) ?? line}`),
    ),
  ]);
  return `${[...head, ...whole].join("\n")}\n`;
}

/** Names may be longer than any column. Words of a table are not. */
const LONGEST_WORD = 20;

function breaksWords(cells: readonly (readonly string[])[], widths: readonly number[]): boolean {
  return cells.some((texts) => texts.some((text, index) => (widths[index] ?? 0) < longestPart(text, LONGEST_WORD)));
}

/** For a terminal too narrow for the table: each row as lines of its own, one for each column. */
function records<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  cells: readonly (readonly string[])[],
  width: number,
): string {
  const [titles = [], ...body] = cells;
  const indent = Math.max(...titles.map(({ length }) => length)) + NARROW_GAP.length;
  const parts = rows.map((row, at) =>
    columns.flatMap(({ title, paint }, index) =>
      foldedCell(body[at]?.[index] ?? "", Math.max(width - indent, LONGEST_WORD)).map(
        (line, part) => (part === 0 ? title : "").padEnd(indent) + (paint?.(row, line) ?? line),
      ),
    ),
  );
  return `${parts.map((lines) => lines.map((line) => line.trimEnd()).join("\n")).join("\n\n")}\n`;
}

/** Titles first. */
function cellsOf<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string[][] {
  return [columns.map(({ title }) => title), ...rows.map((row) => columns.map(({ text }) => oneLine(text(row))))];
}

/** The lines of the titles, and of each row. */
function rowLines<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  cells: readonly (readonly string[])[],
  { gap, widths }: { gap: string; widths: readonly number[] },
): string[][] {
  return cells.map((texts, rowIndex) => {
    const row = rows[rowIndex - 1];
    const folded = texts.map((text, index) => foldedCell(text, widths[index] ?? 0));
    return Array.from({ length: Math.max(...folded.map((one) => one.length)) }, (_, at) =>
      folded
        .map((one, index) => {
          const isLast = index === texts.length - 1;
          const cell = isLast ? (one[at] ?? "") : (one[at] ?? "").padEnd(widths[index] ?? 0);
          return row === undefined ? cell : (columns[index]?.paint?.(row, cell) ?? cell);
        })
        .join(gap)
        .trimEnd(),
    );
  });
}

export function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, Math.max(length - 1, 1))}…`;
}

/** Breaks text at spaces, unless the output is no terminal; every line begins with `indent`. */
export function wrap(text: string, width: number, indent = ""): string {
  if (width === Infinity) return `${indent}${oneLine(text)}`;
  const room = Math.max(Math.min(width, 110) - indent.length, 30);
  const lines: string[] = [];
  let line = "";
  for (const word of oneLine(text).split(/\s+/)) {
    if (line !== "" && line.length + 1 + word.length > room) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  lines.push(line);
  return lines.map((one) => `${indent}${one}`).join("\n");
}
