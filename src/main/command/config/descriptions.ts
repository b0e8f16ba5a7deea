// The description of each field in the JSON Schema, which editors show when they complete a configuration file.
import { flagsOf } from "../flags/table.js";
import { FIELDS, type Field, type FieldPath } from "./fields.js";

/** The row's own text, else the help of the flag that mirrors the field. @throws Error for a field that has neither */
export function descriptionOf(path: FieldPath): string {
  const { help, flag }: Field = FIELDS[path];
  const text = help ?? (flag === undefined ? undefined : flagsOf("linux").byName.get(flag)?.help);
  if (text === undefined) throw new Error(`${path} has no description: add "help" to its row in fields.ts`);
  return text;
}
