// Writes the tables by which objects are read from protobuf and written to it
// (src/shared/kubernetes/api/protobuf/schema.ts has the form).

import type { Contract, Field, Message } from "../contract.js";
import { reachable, rootNames, shortNames } from "../reach.js";
import { ROOTS } from "../roots.js";
import { HEADER } from "./header.js";

const FOLDER = "src/shared/kubernetes/api/protobuf/gen";
const SCALARS: Readonly<Record<string, string>> = { string: "s", bool: "b", int32: "i", int64: "i", bytes: "y" };
const MARKS = { one: "", list: "*", map: "%" } as const;

export function wireFiles(contract: Contract): [path: string, text: string][] {
  const names = shortNames(contract);
  const ofPods = new Set(reachable(contract, "core.Pod"));
  const others = new Set(rootNames().flatMap((root) => reachable(contract, root)));
  for (const message of ofPods) others.delete(message);
  return [
    [`${FOLDER}/messages.ts`, table("MESSAGES", "The messages of a v1.Pod.", [...ofPods], names)],
    [
      `${FOLDER}/cluster-messages.ts`,
      table("CLUSTER_MESSAGES", "The messages of all other objects.", [...others], names),
    ],
    [`${FOLDER}/roots.ts`, rootsFile(names)],
  ];
}

function table(name: string, about: string, messages: readonly Message[], names: ReadonlyMap<string, string>): string {
  const rows = new Map(messages.map((one) => [names.get(one.name) ?? "", one]));
  const lines = [...rows]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([key, { fields }]) =>
        `  ${property(key)}: ${JSON.stringify(fields.map((one) => row(one, names)).join(", "))},\n`,
    );
  return `${HEADER}// ${about}\nexport const ${name}: Readonly<Record<string, string>> = {\n${lines.join("")}};\n`;
}

function row(field: Field, names: ReadonlyMap<string, string>): string {
  const { number, name, json, type, kind, form } = field;
  if (form === "inline") return `${number} ${name} .${wireType(field, names)}`;
  const dropsEmpty = form === "omitempty" && kind === "one" && type !== "bytes" && SCALARS[type] !== undefined;
  return `${number} ${json} ${wireType(field, names)}${dropsEmpty ? "?" : ""}`;
}

/** The field's type with its mark, as a table has it. */
export function wireType({ kind, type }: Field, names: ReadonlyMap<string, string>): string {
  return `${MARKS[kind]}${SCALARS[type] ?? names.get(type) ?? ""}`;
}

/** apiVersion/kind of an object, and its message. */
function rootsFile(names: ReadonlyMap<string, string>): string {
  const rows = ROOTS.flatMap(({ apiVersion, package: name, kinds }) =>
    kinds.map(
      (kind) => `  [${JSON.stringify(`${apiVersion}/${kind}`)}, ${JSON.stringify(names.get(`${name}.${kind}`))}],\n`,
    ),
  );
  const type = "readonly (readonly [object: string, message: string])[]";
  return `${HEADER}// apiVersion/kind of each object, and its message.\nexport const ROOTS: ${type} = [\n${rows.join("")}];\n`;
}

function property(name: string): string {
  return /^\w+$/.test(name) ? name : JSON.stringify(name);
}
