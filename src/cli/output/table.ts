// Tables and colours for a terminal. Pure. The last column is cut to the width of the terminal.

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

// Colours for a terminal. Text from pods and runtimes is cleaned of control characters: it must not steer the terminal.

type Colour = "red" | "yellow" | "green" | "dim" | "bold";
export type Paint = (colour: Colour, text: string) => string;

const CODES: Readonly<Record<Colour, string>> = { red: "31", yellow: "33", green: "32", dim: "2", bold: "1" };

export function painter(on: boolean): Paint {
  return on ? (colour, text) => `\u001b[${CODES[colour]}m${text}\u001b[0m` : (_colour, text) => text;
}

/** A control character, or one that changes the direction of text. */
export const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const ALL_UNPRINTABLE = new RegExp(`${UNPRINTABLE.source}+`, "g");

/** One line of printable characters. */
export function clean(text: string): string {
  return text.replace(ALL_UNPRINTABLE, " ").trim();
}
