// The facts of what Kubernetes 1.37 adds, the code that keeps it, and the page that tells of it agree.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { LATER_FIELDS as LATER_CONFIG } from "../../../src/main/command/fields/later-fields.js";
import { LATER_GATES } from "../../../src/main/command/gates/later-gates.js";
import { GATES } from "../../../src/main/command/gates/table.js";
import { LATER_FIELDS } from "../../../src/shared/kubernetes/api/later-fields.js";

const ROOT = resolve(import.meta.dirname, "../../../..");
type Row = Record<"area" | "place" | "name" | "wire" | "gate" | "kep", string>;

function rowsOf(file: string): Row[] {
  const [head = "", ...lines] = readFileSync(join(ROOT, "test/facts", file), "utf8")
    .trimEnd()
    .split("\n");
  const columns = head.split("\t");
  return lines.map((line) => {
    const cells = line.split("\t");
    const cell = (name: string): string => cells[columns.indexOf(name)] ?? "";
    const row = { area: cell("area"), place: cell("place"), name: cell("name") };
    return { ...row, wire: cell("wire"), gate: cell("gate"), kep: cell("kep") };
  });
}

/** What upstream's definitions add, generated from them. */
const DEFINED = new Map(rowsOf("later-fields.tsv").map((row) => [`${row.place}.${row.name}`, row]));
const rows = rowsOf("kubernetes-1.37.tsv").map((row) => ({
  ...row,
  wire: row.area === "api" ? (DEFINED.get(`${row.place}.${row.name}`)?.wire ?? "") : row.wire,
}));
const page = readFileSync(join(ROOT, "docs/kubernetes-1.37.md"), "utf8");

test("each field that the definitions of upstream add has a row, and no other field of the API has one", () => {
  const fields = rows.filter(({ area }) => area === "api");
  assert.ok(fields.length > 50);
  const keys = (list: readonly { place: string; name: string }[]): string[] =>
    list.map(({ place, name }) => `${place}.${name}`).sort();
  assert.deepEqual(keys(fields), keys([...DEFINED.values()]));
});

test("a field whose gate upstream names has that gate", () => {
  const fields = rows.filter(({ area }) => area === "api");
  for (const { place, name, gate } of fields) {
    const defined = DEFINED.get(`${place}.${name}`)?.gate ?? "";
    assert.ok(defined === "" || defined.split(" ").includes(gate), `${place}.${name}: ${defined}`);
  }
});

test("each field of the CRI is in its definition", () => {
  const proto = readFileSync(join(ROOT, "src/shared/kubernetes/cri/proto/runtime.v1.proto"), "utf8");
  for (const { place, name, wire } of rows.filter((row) => row.area === "cri" && /^\d/.test(row.wire))) {
    const message = new RegExp(`^message ${place} \\{[^}]*\\b${name} = ${wire.split(" ")[0]};`, "m");
    assert.match(proto, message, `${place}.${name}`);
  }
});

test("each field of a pod's definition is found in pods by its name and gate", () => {
  const spec = rows.filter(
    ({ area, place }) => area === "api" && /(Source|Projection|KeyToPath|File|Mount|Action|PodSpec)$/.test(place),
  );
  assert.equal(spec.length, 14);
  for (const { name, gate } of spec) {
    assert.ok(
      LATER_FIELDS.some((field) => field.path.endsWith(`.${name}`) && field.gate === gate),
      `${name} (${gate})`,
    );
  }
  const gates = new Set(spec.map(({ gate }) => gate));
  for (const { path, gate } of LATER_FIELDS) assert.ok(gates.has(gate), path);
});

test("each gate of a field is known, of this version or of the next one, and of one only", () => {
  for (const { gate } of rows.filter((row) => row.gate !== "" && row.area !== "cri")) {
    assert.ok(Object.hasOwn(GATES, gate) || LATER_GATES.has(gate), gate);
  }
  assert.deepEqual(
    [...LATER_GATES].filter((gate) => Object.hasOwn(GATES, gate)),
    [],
  );
  assert.deepEqual([...LATER_GATES], [...LATER_GATES].sort());
});

test("each field of the configuration has its own warning", () => {
  const fields = rows.filter(({ area }) => area === "config").map(({ name }) => name);
  assert.deepEqual(Object.keys(LATER_CONFIG), fields);
});

test("the page has each field with its message, its gate and its KEP; of a new message its name", () => {
  const added = new Set(rows.map(({ wire }) => (wire.split(" ")[1] ?? "").replace(/^[*%]/, "")));
  for (const { place, name, gate, kep } of rows) {
    const message = place.split(".").at(-1) ?? place;
    const own = added.has(message) ? [] : [name.replace("SIGNAL_*", "SIGNAL_…")];
    for (const part of [message, ...own, gate, kep === "" ? "" : `KEP-${kep}`]) {
      assert.ok(page.includes(part), `${part} of ${place}.${name}`);
    }
  }
});

test("each row of a change names its source", () => {
  const changes = page.split(/^## /m).flatMap((section) => {
    const table = section.split("\n").filter((line) => line.startsWith("| "));
    return table[0]?.endsWith("| source |") === true ? table.slice(2) : [];
  });
  assert.ok(changes.length > 60);
  const source = /\b(api|cri|kubelet|base|helpers|KEP-\d+|notes|gates)\b/;
  for (const line of changes) assert.match(line.split("|").at(-2) ?? "", source, line);
});

test("the summary of efforts is the sum of the tables", () => {
  const efforts = page
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .flatMap((line) => / \| (\d+(?:\.\d)?) \| [^|]*\|$/.exec(line)?.[1] ?? []);
  const sum = efforts.reduce((total, effort) => total + Number(effort), 0);
  assert.match(page, new RegExp(`\\b${Math.round(sum)} days\\b`), `the tables add up to ${sum}`);
});
