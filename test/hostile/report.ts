// The lines and the table of the bench; docs/security.md has the table. Each family of attacks runs as one file. It
// adds its rows to those of this run and prints all. So the last file prints the whole table.

import { appendFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Row } from "./attack.js";
import { PERIOD_MS } from "./bystander.js";

const HEAD = [
  "attack",
  "what was sent",
  "main's longest delay ms (own CPU; idle process)",
  "longest gap of the victim's probes ms (without the kubelet)",
  "operator p99; slowest ms (exec; statistics; page without the kubelet)",
  "deaths",
  "RSS MiB before → after",
  "upstream's kubelet",
  "verdict",
];

/** Also prints the row, as one line. */
export async function keepRow(row: Row): Promise<void> {
  console.log(caseLine(row));
  await appendFile(rowsFile(), `${JSON.stringify(row)}\n`);
}

export async function printTable(): Promise<void> {
  const lines = (await readFile(rowsFile(), "utf8").catch(() => "")).split("\n").filter((line) => line !== "");
  console.log(`\n${tableOf(lines.map((line) => JSON.parse(line) as Row))}\n`);
}

export function tableOf(rows: readonly Row[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const body = rows.map((row) =>
    line([
      `${row.family}: ${row.attack}`,
      row.did,
      delayOf(row),
      gapOf(row),
      operatorOf(row),
      deathsOf(row),
      rssOf(row),
      row.upstream ?? "–",
      verdictOf(row),
    ]),
  );
  return [line(HEAD), line(HEAD.map(() => "---")), ...body].join("\n");
}

export function caseLine(row: Row): string {
  return [
    `${row.family}: ${row.attack}`,
    `sent ${row.did}`,
    `main's longest delay ${delayOf(row)} ms`,
    `longest gap of the victim's probes ${gapOf(row)} ms`,
    `operator p99; slowest ${operatorOf(row)} ms`,
    `deaths ${deathsOf(row)}`,
    `RSS ${rssOf(row)} MiB`,
    verdictOf(row),
  ].join(" · ");
}

const whole = (value: number): string => String(Math.round(value));
const delayOf = (row: Row): string => `${whole(row.mainDelayMs)} (${whole(row.mainCpuMs)}; ${whole(row.idleDelayMs)})`;
const gapOf = (row: Row): string => `${whole(PERIOD_MS + row.probeLateMs)} (${whole(PERIOD_MS + row.directLateMs)})`;
const operatorOf = (row: Row): string =>
  `${whole(row.operatorP99Ms)}; ${whole(row.operatorMs)} (${whole(row.directExecMs)}; ${whole(row.directStatsMs)}; ${whole(row.directPageMs)})`;
const rssOf = (row: Row): string => `${whole(row.rssBeforeMiB)} → ${whole(row.rssAfterMiB)}`;

function deathsOf({ threadRestarts, hasProcessDied }: Row): string {
  if (hasProcessDied) return "the process";
  return threadRestarts === 0 ? "0" : `${threadRestarts} threads`;
}

function verdictOf({ broken, missed }: Row): string {
  if (broken.length > 0) return `**broken**: ${broken.join("; ")}`;
  return missed.length > 0 ? `*missed*: ${missed.join("; ")}` : "kept";
}

function rowsFile(): string {
  return join(process.env["NODELET_TEST_DIR"] ?? "", "hostile-rows.jsonl");
}
