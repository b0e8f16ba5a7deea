// The table of the bench, in the form of SPECIFICATION.md. Each family of attacks runs as one file. It adds its rows to those of this run
// and prints all. So the last file prints the whole table.
import { appendFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Row } from "./attack.js";

const HEAD = [
  "attack",
  "what it did",
  "probe late ms",
  "operator ms",
  "main's longest delay ms (own CPU; idle process)",
  "thread restarts",
  "RSS MiB before → after",
  "verdict",
];

export async function keepRow(row: Row): Promise<void> {
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
      String(Math.round(row.probeLateMs)),
      String(Math.round(row.operatorMs)),
      `${Math.round(row.mainDelayMs)} (${Math.round(row.mainCpuMs)}; ${Math.round(row.idleDelayMs)})`,
      String(row.threadRestarts),
      `${Math.round(row.rssBeforeMiB)} → ${Math.round(row.rssAfterMiB)}`,
      verdictOf(row),
    ]),
  );
  return [line(HEAD), line(HEAD.map(() => "---")), ...body].join("\n");
}

function verdictOf({ broken, missed }: Row): string {
  if (broken.length > 0) return `**broken**: ${broken.join("; ")}`;
  return missed.length > 0 ? `*missed*: ${missed.join("; ")}` : "kept";
}

function rowsFile(): string {
  return join(process.env["NODELET_TEST_DIR"] ?? "", "hostile-rows.jsonl");
}
