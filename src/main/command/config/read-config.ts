// Reads one source of KubeletConfiguration (kubelet.config.k8s.io/v1beta1; YAML or JSON) into a tree. An unknown field,
// a field given twice and a second document are problems that a start tolerates, as upstream falls back to lenient
// decoding. All problems come back together, each with file:line:column and path; no text makes this throw.

import { dirname, isAbsolute, resolve } from "node:path";
import { nearestName } from "../../../shared/base/text/nearest-name.js";
import { looksLikeJson } from "../../../shared/io/yaml/json.js";
import { readKubernetesYaml, type FirstDocument } from "../../../shared/io/yaml/kubernetes-yaml.js";
import type {
  RepeatedKey,
  ScalarValue,
  YamlMap,
  YamlMember,
  YamlScalar,
  YamlValue,
} from "../../../shared/io/yaml/tree.js";
import { YamlError } from "../../../shared/io/yaml/yaml-error.js";
import { LATER_FIELDS } from "../fields/later-fields.js";
import { REMOVED_FIELDS } from "../fields/removed-fields.js";
import { ACCEPTED, fromConfig } from "../values.js";
import { CONFIG_API_VERSION, CONFIG_KIND } from "./config-version.js";
import { mergeMaps } from "./merge.js";
import type { Origin } from "./origin.js";
import type { Problem } from "./report.js";
import { isSecret } from "./secrets.js";
import { CONFIG_MEMBERS, type Member, type ScalarType, type Shape } from "./shape.js";
import { MOST_PROBLEMS, SIZE_LIMIT } from "./size-limits.js";
import { NOTHING, type MapNode, type Scalar, type Tree } from "./tree.js";

export interface ReadConfig {
  /** Null nodes are kept: in a drop-in they remove. apiVersion and kind are checked and left out. */
  tree: MapNode;
  problems: Problem[];
}

/** `file` names the source in messages and origins; relative paths in it are relative to its folder, if it has one. */
export function readConfig(
  text: string | Uint8Array,
  file: string,
  kind: "file" | "drop-in" = "file",
  hasFolder = true,
): ReadConfig {
  const refuse = (message: string, line = 1, column = 1): ReadConfig => ({
    tree: NOTHING,
    problems: [{ origin: { kind, file, line, column }, path: "", message }],
  });
  if (text.length > SIZE_LIMIT) return refuse(`larger than ${SIZE_LIMIT / 1024 / 1024} MiB`);
  try {
    const isJson = kind === "file" && looksLikeJson(typeof text === "string" ? text : startOf(text));
    return new ConfigReader(readKubernetesYaml(text), { file, kind, hasFolder, isJson }).read();
  } catch (error) {
    if (error instanceof YamlError) return refuse(error.message, error.line, error.column);
    if (error instanceof RangeError) return refuse("nested too deeply");
    throw error;
  }
}

/** As much of it as spaces before a brace may take. */
function startOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 4096)).toString("latin1");
}

/** Lists and maps have texts of quantities and durations: their zero value is the empty text. */
const ZERO_OF: Readonly<Record<ScalarType, Scalar>> = {
  string: "",
  bool: false,
  int32: 0,
  int64: 0,
  uint32: 0,
  float64: 0,
  duration: "",
  durationOrNanos: "",
  quantity: "",
};

/** In place of the first problem that is one too many. */
const FURTHER = `the file has more than ${MOST_PROBLEMS} problems of this kind; further ones are not listed`;
/** A key may have megabytes. */
const LONGEST_PATH = 500;

const shortened = (path: string): string => (path.length > LONGEST_PATH ? `${path.slice(0, LONGEST_PATH)}…` : path);

interface Source {
  readonly file: string;
  readonly kind: "file" | "drop-in";
  readonly hasFolder: boolean;
  /** Go's decoder of JSON reads the file: a number with a fraction or an exponent is no integer, whatever its value. */
  readonly isJson: boolean;
}

class ConfigReader {
  private readonly problems: Problem[] = [];
  private readonly count = { tolerated: 0, others: 0 };
  private readonly repeated = new Map<YamlMap, RepeatedKey[]>();

  constructor(
    private readonly yaml: FirstDocument,
    private readonly source: Source,
  ) {
    for (const key of yaml.repeated) {
      const keys = this.repeated.get(key.map);
      if (keys === undefined) this.repeated.set(key.map, [key]);
      else keys.push(key);
    }
  }

  read(): ReadConfig {
    const { root, rest } = this.yaml;
    if (root.value === null) {
      this.problem(
        0,
        "",
        `the file is empty; it must contain apiVersion: ${CONFIG_API_VERSION} and kind: ${CONFIG_KIND}`,
      );
      return { tree: NOTHING, problems: this.problems };
    }
    if (rest !== undefined) {
      this.tolerate(rest, "", "a second document, which is not read; a file must contain one KubeletConfiguration");
    }
    const origin = this.origin(0);
    if (root.kind !== "map") {
      this.problem(0, "", `expected a map of fields, found ${foundText(root)}`);
      return { tree: NOTHING, problems: this.problems };
    }
    this.checkIdentity(root);
    return { tree: { kind: "map", entries: this.members(root, CONFIG_MEMBERS, ""), origin }, problems: this.problems };
  }

  private checkIdentity(root: YamlMap): void {
    for (const [name, wanted] of [
      ["apiVersion", CONFIG_API_VERSION],
      ["kind", CONFIG_KIND],
    ] as const) {
      const value = this.identity(root, name);
      if (value?.value === wanted) continue;
      const found = value === undefined ? "is missing" : `is ${foundText(value)}`;
      this.problem(value?.offset ?? 0, name, `${found}; must be ${wanted}`);
    }
  }

  /** Go reads apiVersion and kind of a file in any case, the last of several; of a drop-in as they are written. */
  private identity(root: YamlMap, name: string): YamlValue | undefined {
    const named = [...root.members].filter(([key]) =>
      this.source.kind === "file" ? key.toLowerCase() === name.toLowerCase() : key === name,
    );
    return named.findLast(([, { value }]) => value.value !== null)?.[1].value ?? named.at(-1)?.[1].value;
  }

  /** An object's members by the shape's names. */
  private members(map: YamlMap, known: ReadonlyMap<string, Member>, path: string): Map<string, Tree> {
    const entries = new Map<string, Tree>();
    for (const [name, { value, offset }] of this.pairs(map, (key) => (path === "" ? key : `${path}.${key}`))) {
      const inner = path === "" ? name : `${path}.${name}`;
      if (inner === "apiVersion" || inner === "kind") continue;
      const member = known.get(name);
      if (member === undefined) {
        this.tolerate(offset, inner, () => unknownField(name, inner, known));
        continue;
      }
      const tree = this.nullable(value, member.shape, inner);
      if (tree !== undefined)
        entries.set(name, member.field?.isPath === true ? this.besideFile(tree, inner, offset) : tree);
    }
    return entries;
  }

  /** null means "not given" in a file, and removes the value in a drop-in. */
  private nullable(value: YamlValue, shape: Shape, path: string): Tree | undefined {
    if (value.value === null) return { kind: "scalar", value: null, origin: this.origin(value.offset) };
    return this.value(value, shape, path);
  }

  private value(found: YamlValue, shape: Shape, path: string): Tree | undefined {
    const origin = this.origin(found.offset);
    switch (shape.kind) {
      case "object":
        if (found.kind === "map") return { kind: "map", entries: this.members(found, shape.members, path), origin };
        break;
      case "map":
        if (found.kind === "map") return { kind: "map", entries: this.entries(found, shape.of, path), origin };
        break;
      case "list":
        if (found.kind === "list") return { kind: "list", items: this.items(found.items, shape.of, path), origin };
        break;
      case "scalar":
        if (found.kind === "scalar") {
          const value = treeValue(found.value);
          const isDecimal = this.source.isJson && isInteger(shape.type) && /^-?\d+[.eE]/.test(found.text);
          if (value !== undefined && !isDecimal && fits(shape.type, value)) return { kind: "scalar", value, origin };
        }
    }
    const bare = found.kind === "scalar" && typeof found.value !== "string" && found.value !== null;
    const quotes = bare && shape.kind === "scalar" && shape.type === "string" ? ": put it in quotes" : "";
    const shown = isSecret(path) && found.kind === "scalar" ? "a value (masked)" : foundText(found);
    this.problem(found.offset, path, `expected ${acceptedText(shape)}, found ${shown}${quotes}`);
    return undefined;
  }

  private entries(map: YamlMap, of: Shape, path: string): Map<string, Tree> {
    const entries = new Map<string, Tree>();
    for (const [name, { value }] of this.pairs(map, (key) => `${path}[${key}]`)) {
      const inner = `${path}[${name}]`;
      const tree =
        this.source.kind === "file" && value.value === null
          ? this.zero(value, of, inner)
          : this.nullable(value, of, inner);
      if (tree !== undefined) entries.set(name, tree);
    }
    return entries;
  }

  private items(values: readonly YamlValue[], of: Shape, path: string): Tree[] {
    const items: Tree[] = [];
    for (const [index, item] of values.entries()) {
      const inner = `${path}[${index}]`;
      const tree = item.value === null ? this.zero(item, of, inner) : this.value(item, of, inner);
      // Nothing can be removed inside a list: null means "not given" there.
      if (tree !== undefined) items.push(tree.kind === "map" ? mergeMaps(undefined, tree) : tree);
    }
    return items;
  }

  /** Go's decoder makes null in a list or a map the zero value of its type. */
  private zero({ offset }: YamlValue, shape: Shape, path: string): Tree {
    this.tolerate(offset, path, `expected ${acceptedText(shape)}, found null`);
    return zeroOf(shape, this.origin(offset));
  }

  /** A map's members; a key given twice is a problem. */
  private pairs(map: YamlMap, show: (key: string) => string): Iterable<[string, YamlMember]> {
    for (const { name, offset } of this.repeated.get(map) ?? []) this.tolerate(offset, show(name), "given twice");
    return map.members;
  }

  private besideFile(tree: Tree, path: string, offset: number): Tree {
    if (tree.kind !== "scalar" || typeof tree.value !== "string" || tree.value === "") return tree;
    if (!this.source.hasFolder && !isAbsolute(tree.value)) {
      this.problem(
        offset,
        path,
        `${JSON.stringify(tree.value)} is a relative path, and a ConfigMap has no folder; write an absolute path`,
      );
    }
    return isAbsolute(tree.value) ? tree : { ...tree, value: resolve(dirname(resolve(this.source.file)), tree.value) };
  }

  private origin(offset: number): Extract<Origin, { kind: "file" | "drop-in" }> {
    return { kind: this.source.kind, file: this.source.file, ...this.yaml.lines.at(offset) };
  }

  /** @param message called for a problem that is reported */
  private tolerate(offset: number, path: string, message: string | (() => string)): void {
    const count = ++this.count.tolerated;
    if (count > MOST_PROBLEMS + 1) return;
    const text = count > MOST_PROBLEMS ? FURTHER : typeof message === "string" ? message : message();
    this.problems.push({ origin: this.origin(offset), path: shortened(path), message: text, isTolerated: true });
  }

  private problem(offset: number, path: string, message: string): void {
    const count = ++this.count.others;
    if (count > MOST_PROBLEMS + 1) return;
    const text = count > MOST_PROBLEMS ? FURTHER : message;
    this.problems.push({ origin: this.origin(offset), path: shortened(path), message: text });
  }
}

function zeroOf(shape: Shape, origin: Origin): Tree {
  switch (shape.kind) {
    case "object": {
      const members = [...shape.members].filter(([, { optional }]) => optional !== true);
      const entries = members.map(([name, member]): [string, Tree] => [name, zeroOf(member.shape, origin)]);
      return { kind: "map", entries: new Map(entries), origin };
    }
    case "map":
      return { kind: "map", entries: new Map(), origin };
    case "list":
      return { kind: "list", items: [], origin };
    case "scalar":
      return { kind: "scalar", value: ZERO_OF[shape.type], origin };
  }
}

function unknownField(name: string, path: string, known: ReadonlyMap<string, Member>): string {
  // A field may have the name of a member of each object, such as "constructor".
  const table = [REMOVED_FIELDS, LATER_FIELDS].find((fields) => Object.hasOwn(fields, path));
  if (table?.[path] !== undefined) return table[path];
  const near = nearestName(name, known.keys());
  return `unknown field${near === undefined ? "" : `; did you mean ${near}?`}`;
}

function isInteger(type: ScalarType): boolean {
  return type === "int32" || type === "int64" || type === "uint32" || type === "durationOrNanos";
}

function fits(type: ScalarType, value: unknown): boolean {
  // A number is in nanoseconds.
  if ((typeof value === "number" || typeof value === "bigint") && type === "durationOrNanos")
    return fromConfig("int64", value) !== undefined;
  return fromConfig(type, value) !== undefined;
}

/** undefined: an integer beyond 64 bits. */
function treeValue(value: ScalarValue): Scalar | undefined {
  return typeof value === "bigint" && value !== BigInt.asIntN(64, value) ? undefined : value;
}

function acceptedText(shape: Shape): string {
  switch (shape.kind) {
    case "scalar":
      return ACCEPTED[shape.type];
    case "list":
      return "a list";
    case "map":
      return "a map";
    case "object":
      return "a map of fields";
  }
}

function foundText(found: YamlValue): string {
  if (found.kind === "map") return "a map";
  if (found.kind === "list") return "a list";
  const text = scalarText(found);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

function scalarText({ value, text }: YamlScalar): string {
  return typeof value === "bigint" || typeof value === "number" ? text : JSON.stringify(value);
}
