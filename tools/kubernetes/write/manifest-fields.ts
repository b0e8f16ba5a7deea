// Writes the fields of the messages below a v1.Pod, as the reader of manifests has them
// (src/workers/tasks/manifest/struct.ts has the form).

import type { Contract, Field } from "../contract.js";
import { isScalar, reachable, shortOf } from "../reach.js";
import { HEADER } from "./header.js";

const FILE = "src/workers/tasks/manifest/gen/fields.ts";
/** Not part of a definition: the kubelet computes the status, and managedFields belongs to the API server. */
const ROOTS = ["core.PodSpec", "meta.ObjectMeta"];

export function manifestFile(contract: Contract): [path: string, text: string][] {
  const messages = new Set(ROOTS.flatMap((root) => reachable(contract, root)));
  const entries = [...messages]
    .filter(({ fields }) => fields.every(({ form }) => form !== "special"))
    .map(({ name }): [string, Entry[]] => [shortOf(name), entriesOf(fieldsOf(contract, name))])
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const types = entries.map(([name, fields]) => {
    const lines = fields.map(([field, type]) => `    ${field}: ${JSON.stringify(type)};\n`);
    return `  ${name}: {\n${lines.join("")}  };\n`;
  });
  const texts = entries.map(
    ([name, fields]) => `  ${name}: ${JSON.stringify(fields.map((one) => one.join(" ")).join(", "))},\n`,
  );
  const declared = `/** The types of the fields, for the compiler. */\nexport interface Fields {\n${types.join("")}}\n`;
  const table = `export const FIELDS: Readonly<Record<keyof Fields, string>> = {\n${texts.join("")}};\n`;
  return [
    [
      FILE,
      `${HEADER}// The fields of a v1.Pod and of the messages below it: "<name> <type>, …".\n${table}\n${declared}`,
    ],
  ];
}

type Entry = [name: string, type: string];

/** With the fields of inline messages in their place. */
function fieldsOf(contract: Contract, message: string): Field[] {
  return (contract.messages.get(message)?.fields ?? []).flatMap((field) =>
    field.form === "inline" ? fieldsOf(contract, field.type) : [field],
  );
}

/** The fields that are later than their message name the release. What upstream gave up is unknown. */
function entriesOf(fields: readonly Field[]): Entry[] {
  const isNew = fields.every(({ release }) => release !== "");
  const known = fields.filter(({ release }) => !release.startsWith("-"));
  return known.map((field) => entry(isNew ? { ...field, release: "" } : field));
}

/** "[]string?@1.37": list and map before the type, the form behind it, and the release. */
function entry({ json, kind, type, form, release }: Field): Entry {
  const mark = { one: "", list: "[]", map: "{}" }[kind];
  const forms: Partial<Record<Field["form"], string>> = { omitempty: "?", pointer: "*", "pointer-always": "*" };
  const name = isScalar(type) ? type : shortOf(type);
  return [json, `${mark}${name}${kind === "one" ? (forms[form] ?? "") : ""}${release === "" ? "" : `@${release}`}`];
}
