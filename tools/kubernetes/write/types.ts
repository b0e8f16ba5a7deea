// Writes the types of objects, a file a package. A field is optional unless Go always writes it; protobuf has no empty
// lists. A root has apiVersion, kind and metadata.

import type { Contract, Enum, Field, Message } from "../contract.js";
import { objectNames, reachable, rootNames, shortOf } from "../reach.js";
import { OPEN_ENUMS, PACKAGES, SPECIAL } from "../roots.js";
import { HEADER } from "./header.js";

const FOLDER = "src/shared/kubernetes/api/gen";

const SCALARS: Readonly<Record<string, string>> = {
  string: "string",
  bool: "boolean",
  int32: "number",
  int64: "number",
  bytes: "string",
};
const OBJECTS = new Set(objectNames());
const TYPED = ["apiVersion?: string", "kind?: string"];
/** Go writes the zero value of these as null. */
const NULLABLE = ["meta.Time", "meta.MicroTime"];

export function typeFiles(contract: Contract): [path: string, text: string][] {
  const messages = new Set(rootNames().flatMap((root) => reachable(contract, root)));
  return PACKAGES.flatMap(({ name }): [string, string][] => {
    const prefix = `${name}.`;
    const own = [...messages].filter((one) => one.name.startsWith(prefix) && !SPECIAL.has(one.name));
    const enums = [...contract.enums.values()].filter(
      (one) => one.name.startsWith(prefix) && !OPEN_ENUMS.includes(one.name),
    );
    return own.length === 0 ? [] : [[`${FOLDER}/${name}.ts`, file(name, own, enums)]];
  });
}

function file(own: string, messages: readonly Message[], enums: readonly Enum[]): string {
  const parts = [
    ...enums.map((one) => [shortOf(one.name), unionText(one)] as const),
    ...messages.map((one) => [shortOf(one.name), interfaceText(own, one)] as const),
  ].sort(([a], [b]) => (a < b ? -1 : 1));
  const body = parts.map(([, text]) => text).join("\n");
  const scalars = ["IntOrString", "MicroTime", "Quantity", "Time"].filter((name) =>
    new RegExp(`\\b${name}\\b`).test(body),
  );
  const imports = [
    ...(scalars.length === 0 ? [] : [`import type { ${scalars.join(", ")} } from "../scalars.js";\n`]),
    ...PACKAGES.filter(({ name }) => body.includes(` ${name}.`) || body.includes(`<string, ${name}.`)).map(
      ({ name }) => `import type * as ${name} from "./${name}.js";\n`,
    ),
  ];
  return `${HEADER}${imports.join("")}\n${body}`;
}

function unionText({ name, values }: Enum): string {
  return `export type ${shortOf(name)} = ${[...new Set(values)].map((value) => JSON.stringify(value)).join(" | ")};\n`;
}

function interfaceText(own: string, { name, fields }: Message): string {
  const parents = fields.filter(({ form }) => form === "inline").map(({ type }) => typeName(own, type));
  const texts = fields.filter(({ form }) => form !== "inline").map((field) => fieldText(own, field));
  const lines = (OBJECTS.has(name) ? [...TYPED, ...texts.map(required)] : texts).map((text) => `  ${text};\n`);
  const extended = parents.length === 0 ? "" : ` extends ${parents.join(", ")}`;
  return `export interface ${shortOf(name)}${extended} {\n${lines.join("")}}\n`;
}

/** The metadata of an object: an object without does not exist. */
function required(text: string): string {
  return text.replace(/^metadata\?:/, "metadata:");
}

function fieldText(own: string, field: Field): string {
  const { json, kind, form } = field;
  const one = typeName(own, field.enum === "" || OPEN_ENUMS.includes(field.enum) ? field.type : field.enum);
  const type = kind === "list" ? `${one}[]` : kind === "map" ? `Record<string, ${one}>` : one;
  const isValue = form === "always" || form === "omitempty";
  const isNull = form === "pointer-always" || (isValue && kind === "one" && NULLABLE.includes(field.type));
  return `${json}${form === "always" && kind === "one" ? "" : "?"}: ${type}${isNull ? " | null" : ""}`;
}

function typeName(own: string, type: string): string {
  const known = SCALARS[type] ?? SPECIAL.get(type);
  if (known !== undefined) return known;
  return type.startsWith(`${own}.`) ? shortOf(type) : type;
}
