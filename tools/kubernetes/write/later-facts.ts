// Writes the fields of API objects that the other version adds, for the facts of the tests
// (test/facts/kubernetes-1.37.tsv has the rest).

import type { Contract } from "../contract.js";
import { shortNames } from "../reach.js";
import { wireType } from "./wire.js";

const COLUMNS = ["release", "place", "name", "wire", "gate"];

export function laterFactsFile(contract: Contract): [path: string, text: string][] {
  const names = shortNames(contract);
  const rows = [...contract.messages.values()].flatMap(({ name, fields }) =>
    fields
      .filter(({ release, form }) => /^\d/.test(release) && form !== "special")
      .map((field) => [
        field.release,
        names.get(name) ?? "",
        field.json,
        `${field.number} ${wireType(field, names)}`,
        field.gate,
      ]),
  );
  return [["test/facts/later-fields.tsv", [COLUMNS, ...rows].map((row) => `${row.join("\t").trimEnd()}\n`).join("")]];
}
