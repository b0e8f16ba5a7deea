// Tables of text. Pure. The last column is cut to the width of the terminal.
import { clean } from "./paint.js";

export interface Column<Row> {
  title: string;
  text: (row: Row) => string;
  /** Of the finished cell. */
  paint?: (row: Row, text: string) => string;
}

const GAP = "   ";

export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width = Infinity): string {
  const cells = rows.map((row) => columns.map(({ text }) => clean(text(row))));
  const widths = columns.map(({ title }, index) =>
    Math.max(title.length, ...cells.map((line) => line[index]?.length ?? 0)),
  );
  const before = widths.slice(0, -1).reduce((sum, one) => sum + one + GAP.length, 0);
  const room = Math.max(width - before, 12);
  const line = (texts: readonly string[], row?: Row): string =>
    texts
      .map((text, index) => {
        const last = index === texts.length - 1;
        const cell = last ? cut(text, room) : text.padEnd(widths[index] ?? 0);
        return row === undefined ? cell : (columns[index]?.paint?.(row, cell) ?? cell);
      })
      .join(GAP)
      .trimEnd();
  const head = line(columns.map(({ title }) => title));
  return `${[head, ...rows.map((row, index) => line(cells[index] ?? [], row))].join("\n")}\n`;
}

export function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, Math.max(length - 1, 1))}…`;
}

/** Breaks text at spaces; every line begins with `indent`. */
export function wrap(text: string, width: number, indent = ""): string {
  const room = Math.max(Math.min(width, 110) - indent.length, 30);
  const lines: string[] = [];
  let line = "";
  for (const word of clean(text).split(/\s+/)) {
    if (line !== "" && line.length + 1 + word.length > room) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  lines.push(line);
  return lines.map((one) => `${indent}${one}`).join("\n");
}
