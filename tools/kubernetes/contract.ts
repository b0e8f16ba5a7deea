// The contract: facts of upstream's definitions of API objects, one table a package below
// tools/kubernetes/contract. A table has a row for each field: its message, number, names and type, and how Go
// writes it. It has no text of upstream's.
// Invariant: rows are sorted by message and number, so that two versions differ in the lines that changed.

/**
 * How Go writes a field: as a level of its parent; not if empty; always; a pointer; or by code of the type (special).
 */
const FORMS = ["inline", "omitempty", "always", "pointer", "pointer-always", "special"] as const;

export interface Field {
  number: number;
  /** In the .proto file. */
  name: string;
  /** In JSON; "" for fields without a level of their own. */
  json: string;
  /** string, bool, int32, int64, bytes, or "package.Message". */
  type: string;
  kind: "one" | "list" | "map";
  form: (typeof FORMS)[number];
  /** "package.Name" of a string type with known values, or "". */
  enum: string;
  /** The feature gates that upstream names at the field, or "". */
  gate: string;
  /**
   * The other version that has the field, where the pinned one lacks it; with "-" if it is the older one. "" otherwise.
   */
  release: string;
}

export interface Message {
  /** "package.Name". */
  name: string;
  fields: Field[];
}

export interface Enum {
  name: string;
  values: readonly string[];
}

export interface Contract {
  messages: ReadonlyMap<string, Message>;
  enums: ReadonlyMap<string, Enum>;
}

/** A line of a table does not have the columns of its head. */
export class ContractError extends Error {
  override readonly name = "ContractError";
}

const COLUMNS = ["message", "number", "name", "json", "kind", "type", "form", "enum", "gate", "release"] as const;
const ENUM_COLUMNS = ["enum", "values"] as const;

/** The table of one package. */
export function formatMessages(messages: readonly Message[]): string {
  const rows = [...messages]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap(({ name, fields }) =>
      [...fields]
        .sort((a, b) => a.number - b.number)
        .map((one) => COLUMNS.map((column) => (column === "message" ? name : one[column]))),
    );
  return tableText(COLUMNS, rows);
}

export function formatEnums(enums: readonly Enum[]): string {
  const sorted = [...enums].sort((a, b) => (a.name < b.name ? -1 : 1));
  return tableText(
    ENUM_COLUMNS,
    sorted.map(({ name, values }) => [name, values.join("|")]),
  );
}

/** @throws ContractError */
export function parseMessages(text: string): Message[] {
  const found = new Map<string, Message>();
  for (const cells of rowsOf(text, COLUMNS)) {
    const [message = "", number, name = "", json = "", kind, type = "", form, enumName = "", gate = "", release = ""] =
      cells;
    let target = found.get(message);
    if (target === undefined) found.set(message, (target = { name: message, fields: [] }));
    target.fields.push({
      number: Number(number),
      name,
      json,
      type,
      kind: oneOf(kind, ["one", "list", "map"]),
      form: oneOf(form, FORMS),
      enum: enumName,
      gate,
      release,
    });
  }
  return [...found.values()];
}

/** @throws ContractError */
export function parseEnums(text: string): Enum[] {
  return rowsOf(text, ENUM_COLUMNS).map(([name = "", values = ""]) => ({ name, values: values.split("|") }));
}

function tableText(columns: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  return [columns, ...rows].map((row) => `${row.join("\t").trimEnd()}\n`).join("");
}

function rowsOf(text: string, columns: readonly string[]): string[][] {
  const [head, ...lines] = text.trimEnd().split("\n");
  if (head !== columns.join("\t")) throw new ContractError(`the head of a table is ${head ?? "missing"}`);
  return lines.map((line) => line.split("\t"));
}

function oneOf<T extends string>(value: string | undefined, values: readonly T[]): T {
  const found = values.find((one) => one === value);
  if (found === undefined) throw new ContractError(`"${value ?? ""}" is none of ${values.join(", ")}`);
  return found;
}
