// Reads the structs of a types.go: how each field is written as JSON, its string type, and the gates in the markers
// above it. Only the forms that upstream's API types have: one field a line, with a tag that has its number.

export interface GoField {
  json: string;
  inline: boolean;
  omitsEmpty: boolean;
  isPointer: boolean;
  /** The name of the type below "*" and "[]". */
  type: string;
  gates: string[];
}

export interface GoTypes {
  /** Fields by struct, then by number. */
  structs: Map<string, Map<number, GoField>>;
  /** String types with `+enum` and their constants, in the order of the file. */
  enums: Map<string, string[]>;
}

const STRUCT = /^type (\w+) struct \{\n([\s\S]*?)^\}/gm;
const FIELD =
  /^\s+(?:(\w+)\s+)?((?:\*|\[\]|map\[[\w.]+\])*)([\w.]+)\s+`(?=[^`]*json:"([^"]*)")(?=[^`]*protobuf:"\w+,(\d+),)[^`]*`/;
const CONSTANT = /^\t\w+ +(\w+) += +"([^"]*)"/gm;

export function readGoTypes(text: string): GoTypes {
  const structs = new Map<string, Map<number, GoField>>();
  for (const [, name = "", body = ""] of text.matchAll(STRUCT)) structs.set(name, fieldsOf(body));
  const enums = new Map(enumNames(text).map((name): [string, string[]] => [name, []]));
  for (const [, type = "", value = ""] of text.matchAll(CONSTANT)) enums.get(type)?.push(value);
  return { structs, enums };
}

/** String types whose comment has the marker. */
function enumNames(text: string): string[] {
  const names: string[] = [];
  let marked = false;
  for (const line of text.split("\n")) {
    const name = /^type (\w+) string$/.exec(line)?.[1];
    if (marked && name !== undefined) names.push(name);
    marked = line.startsWith("//") && (marked || line === "// +enum");
  }
  return names;
}

function fieldsOf(body: string): Map<number, GoField> {
  const fields = new Map<number, GoField>();
  let gates: string[] = [];
  for (const line of body.split("\n")) {
    const gate = /^\s*\/\/ \+featureGate=(\w+)/.exec(line)?.[1];
    if (gate !== undefined) gates.push(gate);
    if (/^\s*\/\//.test(line)) continue;
    const found = FIELD.exec(line);
    if (found !== null) {
      const [, own, marks = "", type = "", json = "", number] = found;
      const [name = "", ...options] = json.split(",");
      fields.set(Number(number), {
        json: name,
        inline: options.includes("inline") || (own === undefined && name === ""),
        omitsEmpty: options.includes("omitempty"),
        isPointer: marks.startsWith("*"),
        type: type.replace(/^.*\./, ""),
        gates,
      });
    }
    gates = [];
  }
  return fields;
}
