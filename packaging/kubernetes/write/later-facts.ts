// Writes the fields of API objects that the other version adds, for the facts of the tests
// (test/facts/kubernetes-1.37.tsv has the rest).

import type { Contract, Field } from "../contract.js";
import { shortNames } from "../reach.js";

const SCALARS: Readonly<Record<string, string>> = { string: "s", bool: "b", int32: "i", int64: "i", bytes: "y" };
const MARKS = { one: "", list: "*", map: "%" } as const;
const COLUMNS = ["release", "place", "name", "wire", "gate"];

export function laterFactsFile(contract: Contract): [path: string, text: string][] {
  const names = shortNames(contract);
  const wire = ({ number, kind, type }: Field): string =>
    `${number} ${MARKS[kind]}${SCALARS[type] ?? names.get(type) ?? ""}`;
  const rows = [...contract.messages.values()].flatMap(({ name, fields }) =>
    fields
      .filter(({ release, form }) => /^\d/.test(release) && form !== "special")
      .map((field) => [field.release, names.get(name) ?? "", field.json, wire(field), field.gate]),
  );
  return [["test/facts/later-fields.tsv", [COLUMNS, ...rows].map((row) => `${row.join("\t").trimEnd()}\n`).join("")]];
}
