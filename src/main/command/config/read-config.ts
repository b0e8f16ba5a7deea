// Reads one source of KubeletConfiguration (kubelet.config.k8s.io/v1beta1; YAML or JSON) into a tree. Strict on purpose: upstream falls
// back to lenient decoding with a warning. Here an unknown field, a wrong type or a field given twice is an error. All problems come back
// together, each with file:line:column and path; no text makes this throw.
import { dirname, isAbsolute, resolve } from "node:path";
import { isAlias, isMap, isScalar, isSeq, type LineCounter, type Node, type Pair, type YAMLMap } from "yaml";
import { isTooDeepError, readKubernetesYaml, type KubernetesYaml } from "../../../shared/yaml/kubernetes-yaml.js";
import { ACCEPTED, fromConfig } from "../values.js";
import { mergeMaps, NOTHING, type MapNode, type Scalar, type Tree, type Origin } from "./tree.js";
import { REMOVED_FIELDS } from "./removed-fields.js";
import type { Problem } from "./report.js";
import { isSecret } from "./secrets.js";
import { CONFIG_MEMBERS, type Member, type ScalarType, type Shape, CONFIG_API_VERSION, CONFIG_KIND } from "./shape.js";
import { withoutTrailing } from "../../../shared/text/linear.js";
import { nearestName } from "../../../shared/text/nearest-name.js";

export interface ReadConfig {
  /** Null nodes are kept: in a drop-in they remove. apiVersion and kind are checked and left out. */
  tree: MapNode;
  problems: Problem[];
}

const SIZE_LIMIT = 10 * 1024 * 1024;
/** More than enough for hand-made anchors, too few for a bomb. */
const MAX_ALIASES = 100;
/** A text that is broken once is often broken all the way down. */
const MAX_SYNTAX_PROBLEMS = 5;

/** `file` names the source in messages and origins; relative paths in it are relative to its folder, if it has one. */
export function readConfig(
  text: string,
  file: string,
  kind: "file" | "drop-in" = "file",
  hasFolder = true,
): ReadConfig {
  const refuse = (message: string): ReadConfig => ({
    tree: NOTHING,
    problems: [{ origin: { kind, file, line: 1, column: 1 }, path: "", message }],
  });
  if (text.length > SIZE_LIMIT) return refuse(`larger than ${SIZE_LIMIT / 1024 / 1024} MiB`);
  try {
    return new ConfigReader(readKubernetesYaml(text.replace(/^\uFEFF/, ""), false), file, kind, hasFolder).read();
  } catch (error) {
    if (isTooDeepError(error)) return refuse(error.message);
    // The composer's stack ran out on something the depth's measure does not see.
    if (error instanceof RangeError) return refuse("nested too deeply");
    throw error;
  }
}

class ConfigReader {
  private readonly lines: LineCounter;
  private readonly problems: Problem[] = [];
  private aliases = 0;

  constructor(
    private readonly yaml: KubernetesYaml,
    private readonly file: string,
    private readonly kind: "file" | "drop-in",
    private readonly hasFolder: boolean,
  ) {
    this.lines = yaml.lines;
  }

  read(): ReadConfig {
    const { doc, second } = this.yaml;
    for (const error of doc.errors.slice(0, MAX_SYNTAX_PROBLEMS)) {
      this.problem(error.pos[0], "", withoutTrailing(error.message.split("\n")[0] ?? "", ": \t\r"));
    }
    const root: unknown = doc.contents;
    if (this.problems.length > 0) return { tree: NOTHING, problems: this.problems };
    if (isNothing(root)) {
      this.problem(
        0,
        "",
        `the file is empty; it must contain apiVersion: ${CONFIG_API_VERSION} and kind: ${CONFIG_KIND}`,
      );
      return { tree: NOTHING, problems: this.problems };
    }
    if (second !== undefined && !isNothing(second.contents)) {
      this.problem(second.range[0], "", "a second document; a file must contain one KubeletConfiguration");
    }
    const origin = this.origin(0);
    const node = this.target(root as Node, "");
    if (!isMap(node)) {
      this.problem(0, "", `expected a map of fields, found ${foundText(node)}`);
      return { tree: NOTHING, problems: this.problems };
    }
    this.checkIdentity(node);
    return { tree: { kind: "map", entries: this.members(node, CONFIG_MEMBERS, ""), origin }, problems: this.problems };
  }

  private checkIdentity(root: YAMLMap): void {
    for (const [name, wanted] of [
      ["apiVersion", CONFIG_API_VERSION],
      ["kind", CONFIG_KIND],
    ] as const) {
      const pair = root.items.find(({ key }) => keyText(key) === name);
      const value = pair === undefined ? undefined : this.target(pair.value as Node | null, name);
      if (isScalar(value) && value.value === wanted) continue;
      const found = pair === undefined ? "is missing" : `is ${foundText(value ?? null)}`;
      this.problem(offsetOf((value ?? pair?.key) as Node | undefined), name, `${found}; must be ${wanted}`);
    }
  }

  /** An object's members by the shape's names. */
  private members(map: YAMLMap, known: ReadonlyMap<string, Member>, path: string): Map<string, Tree> {
    const entries = new Map<string, Tree>();
    for (const { name, value, offset } of this.pairs(map, path, (key) => (path === "" ? key : `${path}.${key}`))) {
      const inner = path === "" ? name : `${path}.${name}`;
      if (inner === "apiVersion" || inner === "kind") continue;
      const member = known.get(name);
      if (member === undefined) {
        this.problem(offset, inner, unknownField(name, inner, known));
        continue;
      }
      const tree = this.nullable(value, member.shape, inner, offset);
      if (tree !== undefined)
        entries.set(name, member.field?.isPath === true ? this.besideFile(tree, inner, offset) : tree);
    }
    return entries;
  }

  /** null means "not given" in a file, and removes the value in a drop-in. */
  private nullable(node: Node | null, shape: Shape, path: string, offset: number): Tree | undefined {
    const target = this.target(node, path);
    if (isNothing(target)) return { kind: "scalar", value: null, origin: this.origin(offsetOf(node) || offset) };
    return target == null ? undefined : this.value(target, shape, path, offsetOf(node) || offset);
  }

  private value(node: Node, shape: Shape, path: string, offset: number): Tree | undefined {
    const origin = this.origin(offset);
    switch (shape.kind) {
      case "object":
        if (isMap(node)) return { kind: "map", entries: this.members(node, shape.members, path), origin };
        break;
      case "map":
        if (isMap(node)) return { kind: "map", entries: this.entries(node, shape.of, path), origin };
        break;
      case "list":
        if (isSeq(node)) return { kind: "list", items: this.items(node.items as Node[], shape.of, path), origin };
        break;
      case "scalar":
        if (isScalar(node) && fits(shape.type, node.value)) {
          return { kind: "scalar", value: node.value as Scalar, origin };
        }
    }
    const secret = isSecret(path) && isScalar(node);
    const bare = isScalar(node) && (typeof node.value === "number" || typeof node.value === "boolean");
    const quotes = bare && shape.kind === "scalar" && shape.type === "string" ? ": put it in quotes" : "";
    const found = secret ? "a value (masked)" : foundText(node);
    this.problem(offset, path, `expected ${acceptedText(shape)}, found ${found}${quotes}`);
    return undefined;
  }

  private entries(map: YAMLMap, of: Shape, path: string): Map<string, Tree> {
    const entries = new Map<string, Tree>();
    for (const { name, value, offset } of this.pairs(map, path, (key) => `${path}[${key}]`)) {
      const tree = this.nullable(value, of, `${path}[${name}]`, offset);
      if (tree !== undefined) entries.set(name, tree);
    }
    return entries;
  }

  private items(nodes: readonly Node[], of: Shape, path: string): Tree[] {
    const items: Tree[] = [];
    for (const [index, item] of nodes.entries()) {
      const inner = `${path}[${index}]`;
      const target = this.target(item, inner);
      const tree = target == null ? undefined : this.value(target, of, inner, offsetOf(item));
      if (target === null) this.problem(offsetOf(item), inner, `expected ${acceptedText(of)}, found null`);
      // Nothing can be removed inside a list: null means "not given" there.
      if (tree !== undefined) items.push(tree.kind === "map" ? mergeMaps(undefined, tree) : tree);
    }
    return items;
  }

  /** A map's pairs with merged ones ("<<") below its own; a key given twice is a problem and counts once. */
  private pairs(map: YAMLMap, path: string, show: (key: string) => string): KeyedValue[] {
    const found = new Map<string, KeyedValue>();
    const merged: Pair[] = [];
    for (const pair of map.items) {
      const key = pair.key as Node;
      const name = keyText(key);
      if (isMergeKey(key)) merged.push(pair);
      else if (name === undefined) this.problem(offsetOf(key), path, "a key must be a string");
      else if (found.has(name)) this.problem(offsetOf(key), show(name), "given twice");
      else found.set(name, { name, value: pair.value as Node | null, offset: offsetOf(key) });
    }
    for (const pair of merged) {
      for (const inherited of this.mergedPairs(pair, path, show)) {
        if (!found.has(inherited.name)) found.set(inherited.name, inherited);
      }
    }
    return [...found.values()];
  }

  private mergedPairs(pair: Pair, path: string, show: (key: string) => string): KeyedValue[] {
    const node = this.target(pair.value as Node | null, path);
    if (node === undefined) return [];
    const sources = isSeq(node) ? node.items.map((item) => this.target(item as Node, path)) : [node];
    return sources.flatMap((source) => {
      if (isMap(source)) return this.pairs(source, path, show);
      if (source !== undefined) this.problem(offsetOf(pair.key as Node), path, 'expected a map after "<<"');
      return [];
    });
  }

  /** Resolves an alias of a node, with a limit on depth. undefined: a problem was reported. */
  private target(node: Node | null, path: string): Node | null | undefined {
    if (!isAlias(node)) return node;
    this.aliases += 1;
    if (this.aliases === MAX_ALIASES + 1) this.problem(offsetOf(node), path, `more than ${MAX_ALIASES} aliases`);
    if (this.aliases > MAX_ALIASES) return undefined;
    const target = node.resolve(this.yaml.doc);
    if (target === undefined) this.problem(offsetOf(node), path, `*${node.source} refers to no anchor`);
    return target;
  }

  private besideFile(tree: Tree, path: string, offset: number): Tree {
    if (tree.kind !== "scalar" || typeof tree.value !== "string" || tree.value === "") return tree;
    if (!this.hasFolder && !isAbsolute(tree.value)) {
      this.problem(
        offset,
        path,
        `${JSON.stringify(tree.value)} is a relative path, and a ConfigMap has no folder; write an absolute path`,
      );
    }
    return isAbsolute(tree.value) ? tree : { ...tree, value: resolve(dirname(resolve(this.file)), tree.value) };
  }

  private origin(offset: number): Extract<Origin, { kind: "file" | "drop-in" }> {
    const { line, col } = this.lines.linePos(offset);
    return { kind: this.kind, file: this.file, line: Math.max(line, 1), column: Math.max(col, 1) };
  }

  private problem(offset: number, path: string, message: string): void {
    this.problems.push({ origin: this.origin(offset), path, message });
  }
}

interface KeyedValue {
  name: string;
  value: Node | null;
  offset: number;
}

function isNothing(node: unknown): boolean {
  return node === null || (isScalar(node) && node.value === null);
}

function keyText(key: unknown): string | undefined {
  if (!isScalar(key)) return undefined;
  return typeof key.value === "string" ? key.value : (key.source ?? String(key.value));
}

function isMergeKey(key: Node): boolean {
  if (!isScalar(key)) return false;
  const { value } = key;
  return typeof value === "symbol" || (value === "<<" && (key.type === undefined || key.type === "PLAIN"));
}

function unknownField(name: string, path: string, known: ReadonlyMap<string, Member>): string {
  const removed = REMOVED_FIELDS[path];
  if (removed !== undefined) return removed;
  const near = nearestName(name, known.keys());
  return `unknown field${near === undefined ? "" : `; did you mean ${near}?`}`;
}

/** YAML has numbers that JSON has not: .inf, .nan, and nanoseconds beyond 64 bits. */
function fits(type: ScalarType, value: unknown): boolean {
  if (typeof value === "number") {
    if (!Number.isFinite(value)) return false;
    if (type === "durationOrNanos") return fromConfig("int64", value) !== undefined;
  }
  return fromConfig(type, value) !== undefined;
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

function foundText(node: Node | null | undefined): string {
  if (isMap(node)) return "a map";
  if (isSeq(node)) return "a list";
  if (!isScalar(node)) return "nothing";
  const { value, source } = node;
  const plain = typeof value === "string" || typeof value === "boolean" || value === null || Number.isFinite(value);
  const text = plain ? JSON.stringify(value) : (source ?? "a number");
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

function offsetOf(node: Node | null | undefined): number {
  return node?.range?.[0] ?? 0;
}
