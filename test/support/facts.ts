// The tables of upstream's contract that tests are generated from. test/facts holds copies, so that a clone is enough;
// where the originals stand beside the project, a test checks that the copies are still theirs.

import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** One line of a table: value by column name; a column the line leaves out is "". */
export type Row = Readonly<Record<string, string>>;

export type FactsName =
  | "flags"
  | "config-fields"
  | "config-validation"
  | "feature-gates"
  | "constants"
  | "http-api"
  | "metrics";

export const FACTS_NAMES: readonly FactsName[] = [
  "flags",
  "config-fields",
  "config-validation",
  "feature-gates",
  "constants",
  "http-api",
  "metrics",
];

// This file runs from dist/test/support.
const PROJECT = resolve(import.meta.dirname, "../../..");

/** The rows of a table, in its order. */
export function facts(name: FactsName): readonly Row[] {
  const [head = "", ...lines] = copyOf(name).split("\n");
  const columns = head.split("\t");
  return lines
    .filter((line) => line !== "")
    .map((line) => {
      const cells = line.split("\t");
      return Object.fromEntries(columns.map((column, i) => [column, cells[i] ?? ""]));
    });
}

/** The copy's text. */
export function copyOf(name: FactsName): string {
  return readFileSync(join(PROJECT, "test/facts", `${name}.tsv`), "utf8");
}

/** The original's text, or undefined where it is not at hand. */
export function originalOf(name: FactsName): string | undefined {
  const file = join(PROJECT, "../shared/facts", `${name}.tsv`);
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}
