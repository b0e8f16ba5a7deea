// The results as one picture: a panel of bars for each table. A row has a bar for each figure of the table, in the
// column's own scale, so that a row is compared with the rows of the same column.

import type { Report } from "./page.js";

const [WIDTH, LABEL, ROW, HEAD, GAP] = [1000, 260, 22, 50, 24];
const MOST_COLUMNS = 6;
const MOST_ROWS = 40;

const escape = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** SVG. Of a table with more than MOST_ROWS rows the first ones are drawn. */
export function renderPicture(machine: string, at: Date, reports: readonly Report[]): string {
  let top = 40;
  const panels: string[] = [];
  for (const report of reports) {
    const { text, height } = panel(report);
    if (height === 0) continue;
    panels.push(`<g transform="translate(10 ${top})">${text}</g>`);
    top += height + GAP;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH + 20}" height="${top}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="#fff"/>
<text x="10" y="22" font-size="14">nodelet bench, ${at.toISOString()}, ${escape(machine)}</text>
${panels.join("\n")}
</svg>
`;
}

function panel({ title, head, rows }: Report): { text: string; height: number } {
  const shown = rows.slice(0, MOST_ROWS);
  const isFigure = (column: number): boolean => shown.some((row) => typeof row[column] === "number");
  const columns = head.flatMap((_, column) => (column > 0 && isFigure(column) ? [column] : [])).slice(0, MOST_COLUMNS);
  if (columns.length === 0) return { text: "", height: 0 };
  const width = (WIDTH - LABEL) / columns.length;
  const heads = columns.map(
    (column, index) =>
      `<text x="${LABEL + index * width}" y="42" fill="#555">${escape(cut(head[column] ?? "", width))}</text>`,
  );
  const most = columns.map((column) => Math.max(...shown.map((row) => figure(row[column]) ?? 0), 1e-9));
  const lines = shown.map((row, line) => {
    const y = HEAD + line * ROW;
    const bars = columns.map((column, index) => {
      const value = figure(row[column]);
      if (value === undefined) return "";
      const x = LABEL + index * width;
      const length = Math.max(0, Math.round((value / (most[index] ?? 1)) * (width - 70)));
      return `<rect x="${x}" y="${y + 3}" width="${length}" height="14" fill="#356"/><text x="${x + length + 5}" y="${y + 14}">${value}</text>`;
    });
    return `<text x="${LABEL - 10}" y="${y + 14}" text-anchor="end">${escape(cut(String(row[0] ?? ""), LABEL))}</text>${bars.join("")}`;
  });
  const text = `<text y="18" font-weight="bold">${escape(title)}</text>${heads.join("")}\n${lines.join("\n")}`;
  return { text, height: HEAD + shown.length * ROW };
}

function figure(cell: unknown): number | undefined {
  return typeof cell === "number" && Number.isFinite(cell) ? cell : undefined;
}

/** What fits, about. */
function cut(text: string, width: number): string {
  const most = Math.floor(width / 7);
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
