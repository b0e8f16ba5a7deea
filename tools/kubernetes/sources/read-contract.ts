// Makes the contract from checkouts of upstream's repositories: the messages that the roots reach, in the pinned
// version and another one.

import type { Contract, Enum, Field, Message } from "../contract.js";
import { isScalar, rootNames } from "../reach.js";
import { PACKAGES, SPECIAL, type Package } from "../roots.js";
import { readGoTypes, type GoField } from "./go-types.js";
import { readProto, type ProtoField } from "./proto-file.js";

/** The text of a file of a version; "" where the version has no such file. */
export type ReadFile = (repository: Package["repository"], path: string) => Promise<string>;

/** The packages say something that the programs here do not know. */
export class SourceError extends Error {
  override readonly name = "SourceError";
}

/** All messages of one version. @throws SourceError */
export async function readVersion(read: ReadFile): Promise<Contract> {
  const messages = new Map<string, Message>();
  const enums = new Map<string, Enum>();
  for (const one of PACKAGES) {
    for (const folder of one.folders) {
      const texts: string[] = [];
      for (const file of ["types.go", ...(one.more ?? [])]) texts.push(await read(one.repository, `${folder}/${file}`));
      const { structs, enums: values } = readGoTypes(texts.join("\n"));
      for (const [name, list] of values) {
        const full = `${one.name}.${name}`;
        if (list.length > 0 && !enums.has(full)) enums.set(full, { name: full, values: list });
      }
      for (const [name, fields] of readProto(await read(one.repository, `${folder}/generated.proto`))) {
        const full = `${one.name}.${name}`;
        const go = structs.get(name);
        if (messages.has(full)) continue;
        messages.set(full, {
          name: full,
          fields: fields.map((field) => fieldOf(one.name, full, field, go?.get(field.number))),
        });
      }
    }
  }
  for (const { fields } of messages.values()) for (const field of fields) if (!enums.has(field.enum)) field.enum = "";
  return { messages, enums };
}

/** What the roots reach, with the fields that only `other` has, marked by its release. */
export function joinVersions(pinned: Contract, other: Contract, release: string): Contract {
  const messages = new Map<string, Message>();
  const enums = new Map<string, Enum>();
  const wanted = rootNames();
  for (let name = wanted.pop(); name !== undefined; name = wanted.pop()) {
    if (messages.has(name) || isScalar(name)) continue;
    const own = pinned.messages.get(name)?.fields ?? [];
    const theirs = other.messages.get(name)?.fields ?? [];
    if (own.length + theirs.length === 0) throw new SourceError(`no version has the message ${name}`);
    const numbers = new Set(own.map(({ number }) => number));
    const added = theirs.filter(({ number }) => !numbers.has(number)).map((field) => ({ ...field, release }));
    const fields = [...own, ...added];
    const unread = SPECIAL.has(name) ? undefined : fields.find(({ form }) => form === "special");
    if (unread !== undefined) throw new SourceError(`types.go has no field ${unread.number} of ${name}`);
    messages.set(name, { name, fields });
    wanted.push(...fields.map(({ type }) => type));
    for (const { enum: type } of fields) {
      const found = pinned.enums.get(type) ?? other.enums.get(type);
      if (found !== undefined) enums.set(type, found);
    }
  }
  return { messages, enums };
}

function fieldOf(packageName: string, message: string, proto: ProtoField, go: GoField | undefined): Field {
  const common = { number: proto.number, name: proto.name, kind: proto.kind, type: typeOf(packageName, proto.type) };
  if (go === undefined || SPECIAL.has(message))
    return { ...common, json: proto.name, form: "special", enum: "", gate: "", release: "" };
  return {
    ...common,
    json: go.inline ? "" : go.json,
    form: formOf(go),
    enum: common.type === "string" ? `${packageName}.${go.type}` : "",
    gate: go.gates.join(" "),
    release: "",
  };
}

function formOf({ inline, isPointer, omitsEmpty }: GoField): Field["form"] {
  if (inline) return "inline";
  if (isPointer) return omitsEmpty ? "pointer" : "pointer-always";
  return omitsEmpty ? "omitempty" : "always";
}

const PREFIXES: readonly [prefix: string, name: string][] = [
  ["k8s.io.apimachinery.pkg.apis.meta.v1.", "meta"],
  ["k8s.io.apimachinery.pkg.api.resource.", "quantity"],
  ["k8s.io.apimachinery.pkg.util.intstr.", "intstr"],
  ["k8s.io.apimachinery.pkg.runtime.", "runtime"],
];

function typeOf(packageName: string, absolute: string): string {
  const written = absolute.replace(/^\./, "");
  if (isScalar(written)) return written;
  for (const [prefix, name] of PREFIXES)
    if (written.startsWith(prefix)) return `${name}.${written.slice(prefix.length)}`;
  const api = /^k8s\.io\.api\.(\w+)\.\w+\.(\w+)$/.exec(written);
  return api === null ? `${packageName}.${written.replace(/^.*\./, "")}` : `${api[1] ?? ""}.${api[2] ?? ""}`;
}
