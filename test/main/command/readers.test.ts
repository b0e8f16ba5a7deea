// The columns `actedOn` of the tables of fields and gates against the code. Every row acted on has a reader, and every
// reader has such a row. A reader is a file of src that names the field or gate as text. The tables and the rules of
// validation do not count.

import { deepEqual, ok } from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { describe, test } from "node:test";
import { FIELDS, type Field } from "../../../src/main/command/fields/fields.js";
import { OTHER_COMPONENTS } from "../../../src/main/command/gates/other-components.js";
import { GATES, type Gate } from "../../../src/main/command/gates/table.js";

const SRC = join(import.meta.dirname, "../../../../src");
const FIELD_TABLES = [
  "command/fields/fields.ts",
  "command/config/wire.ts",
  "command/flags/",
  "command/rules/",
  "command/config/json-schema.ts",
];
const GATE_TABLES = ["command/gates/table.ts", "command/gates/other-components.ts", "command/config/json-schema.ts"];
/** Read as the flag of the same meaning: a file may not set the field. */
const READ_AS_FLAG = ["runOnce"];

function textsBeyond(tables: readonly string[]): string {
  const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  ok(files.length > 500, "the sources are there");
  return files
    .filter((name) => !tables.some((table) => name.split(sep).join("/").includes(table)))
    .map((name) => readFileSync(join(SRC, name), "utf8"))
    .join("\n");
}

describe("readers", () => {
  test("a field is acted on if and only if code reads it", () => {
    const code = textsBeyond(FIELD_TABLES);
    const read = (path: string): boolean => READ_AS_FLAG.includes(path) || code.includes(`"${path}"`);
    const wrong = Object.entries<Field>(FIELDS).filter(([path, { actedOn }]) => (actedOn !== false) !== read(path));
    deepEqual(
      wrong.map(([path]) => path),
      [],
    );
  });

  test("a gate that can be set concerns another component if and only if upstream's kubelet does not refer to it", () => {
    const rows = readFileSync(join(SRC, "../test/facts/feature-gates.tsv"), "utf8").trimEnd().split("\n").slice(1);
    const referenced = new Map(rows.map((row) => [row.split("\t")[0], row.split("\t")[7] === "yes"]));
    const wrong = Object.entries<Gate>(GATES).filter(([name, { locked, actedOn }]) => {
      if (name.startsWith("Windows")) return OTHER_COMPONENTS.get(name) !== "kubelet on Windows";
      return OTHER_COMPONENTS.has(name) !== (!locked && !actedOn && referenced.get(name) === false);
    });
    deepEqual(
      wrong.map(([name]) => name),
      [],
    );
  });

  test("a gate that can be set is acted on if and only if code reads it, or another such gate needs it", () => {
    const code = textsBeyond(GATE_TABLES);
    const gates = Object.entries<Gate>(GATES);
    const needed = new Set(gates.filter(([, { actedOn }]) => actedOn).flatMap(([, { dependsOn }]) => dependsOn));
    const open = gates.filter(([, { locked }]) => !locked);
    const wrong = open.filter(([name, { actedOn }]) => actedOn !== (code.includes(`"${name}"`) || needed.has(name)));
    deepEqual(
      wrong.map(([name]) => name),
      [],
    );
  });
});
