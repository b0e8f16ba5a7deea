// The results as one page: every table, and a bar for every figure of its first numeric column.

import { escapeHtml } from "../../src/shared/base/text/escape.js";
import type { Cell } from "./stats.js";

/** One table of the results. */
export interface Report {
  title: string;
  head: string[];
  rows: Cell[][];
  /** In place of the bars. */
  svg?: string;
}

const shown = (cell: Cell): string => escapeHtml(cell === undefined ? "–" : String(cell));

export function renderPage(machine: string, at: Date, reports: readonly Report[]): string {
  return `<!doctype html>
<meta charset="utf-8">
<title>nodelet bench ${at.toISOString()}</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; }
table { border-collapse: collapse; } td, th { padding: .2rem .7rem; text-align: right; border-bottom: 1px solid #ddd; }
td:first-child, th:first-child { text-align: left; } svg { margin: .5rem 0 2rem; }
</style>
<h1>nodelet bench</h1>
<p>${at.toISOString()}<br>${escapeHtml(machine)}</p>
${reports.map(section).join("\n")}
`;
}

function section({ title, head, rows, svg }: Report): string {
  const cells = (row: readonly Cell[], tag: string): string =>
    row.map((cell) => `<${tag}>${shown(cell)}</${tag}>`).join("");
  return `<h2>${escapeHtml(title)}</h2>
<table><tr>${cells(head, "th")}</tr>
${rows.map((row) => `<tr>${cells(row, "td")}</tr>`).join("\n")}
</table>
${svg ?? bars(rows)}`;
}

/** Horizontal bars: one per row, of its first figure after the label. */
function bars(rows: readonly (readonly Cell[])[]): string {
  const values = rows.map((row) => row.slice(1).find((cell): cell is number => typeof cell === "number") ?? 0);
  const most = Math.max(...values, 1e-9);
  const bar = (row: readonly Cell[], i: number): string => {
    const width = Math.round(((values[i] ?? 0) / most) * 480);
    const y = i * 24;
    return `<text x="230" y="${y + 16}" text-anchor="end">${shown(row[0])}</text>
<rect x="240" y="${y + 3}" width="${width}" height="17" fill="#356"/><text x="${248 + width}" y="${y + 16}">${values[i] ?? ""}</text>`;
  };
  return `<svg width="800" height="${rows.length * 24}" font-size="13">${rows.map(bar).join("\n")}</svg>`;
}
