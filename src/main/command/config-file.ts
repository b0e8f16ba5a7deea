// Reads a KubeletConfiguration file (kubelet.config.k8s.io/v1beta1; YAML or JSON). Every field of upstream's type is
// known; an unknown field, a wrong type or a field given twice is refused with file:line:column. All problems come back
// together. Values keep their origin, so that later checks can say where a value stands.
import { dirname, isAbsolute, resolve } from "node:path";
import { isMap, isScalar, isSeq, LineCounter, parseDocument, type Document, type Node, type YAMLMap } from "yaml";
import { CONFIG_FIELDS, type ConfigField } from "./config-fields.js";
import type { Given } from "./legacy-command-line.js";
import { nearest } from "./nearest.js";
import { ACCEPTED, fromConfig } from "./values.js";

export const CONFIG_API_VERSION = "kubelet.config.k8s.io/v1beta1";
export const CONFIG_KIND = "KubeletConfiguration";

export interface ConfigFile {
  /** By path as in CONFIG_FIELDS; fields of listed objects are checked, not kept. */
  given: Map<string, Given>;
  problems: string[];
}

/** A field, or an object (or list of objects) of fields. */
interface Schema {
  field?: ConfigField;
  list?: boolean;
  children: Map<string, Schema>;
}

const SCHEMA: Schema = { children: new Map() };
for (const field of CONFIG_FIELDS) {
  let at = SCHEMA;
  for (const part of field.path.split(".")) {
    const name = part.replace("[]", "");
    const child: Schema = at.children.get(name) ?? { children: new Map() };
    if (part.endsWith("[]")) child.list = true;
    at.children.set(name, child);
    at = child;
  }
  at.field = field;
}

/** `file` is the name for messages. Values are decoded as values.ts has them. */
export function readConfig(text: string, file: string): ConfigFile {
  return new ConfigReader(text, file).read();
}

/** A path given in the file is relative to the file's folder; an empty one stays empty. */
export function besideFile(path: string, file: string): string {
  return path === "" || isAbsolute(path) ? path : resolve(dirname(file), path);
}

class ConfigReader {
  private readonly lines = new LineCounter();
  private readonly document: Document;
  private readonly result: ConfigFile = { given: new Map(), problems: [] };

  constructor(
    text: string,
    private readonly file: string,
  ) {
    this.document = parseDocument(text, {
      lineCounter: this.lines,
      uniqueKeys: false,
      prettyErrors: false,
      stringKeys: true,
    });
  }

  read(): ConfigFile {
    for (const error of this.document.errors) this.problem(error.pos[0], "", error.message);
    if (this.result.problems.length > 0) return this.result;
    const root = this.document.contents;
    if (isMap(root)) this.readObject(root, SCHEMA, "");
    else this.problem(0, "", root === null ? "the file is empty" : "not a map of fields");
    if (isMap(root)) this.checkKind(root);
    return this.result;
  }

  private checkKind(root: YAMLMap): void {
    const wanted: Record<string, string> = { apiVersion: CONFIG_API_VERSION, kind: CONFIG_KIND };
    for (const [name, value] of Object.entries(wanted)) {
      const found = root.get(name);
      if (found === value) continue;
      const what = found === undefined ? "is missing" : `is ${JSON.stringify(found)}`;
      const at = root.items.find(({ key }) => isScalar(key) && key.value === name)?.key;
      this.problem(offsetOf(at as Node | undefined), name, `${what}; must be ${value}`);
    }
  }

  private readObject(map: YAMLMap, schema: Schema, path: string): void {
    const seen = new Set<string>();
    for (const { key, value } of map.items) {
      const name = isScalar(key) ? String(key.value) : "";
      const keyPath = path === "" ? name : `${path}.${name}`;
      const at = offsetOf(key as Node);
      if (seen.has(name)) this.problem(at, keyPath, "given twice");
      seen.add(name);
      if (path === "" && (name === "apiVersion" || name === "kind")) continue;
      const child = schema.children.get(name);
      if (child === undefined) this.unknown(at, name, keyPath, schema);
      else this.readValue(this.target(value as Node | null), child, keyPath, at);
    }
  }

  private readValue(node: Node | null, schema: Schema, path: string, at: number): void {
    // As in Go, null is as good as not given.
    if (node === null || (isScalar(node) && node.value === null)) return;
    const where = offsetOf(node) || at;
    if (schema.field !== undefined) {
      this.readField(node, schema.field, path, where);
    } else if (schema.list === true) {
      if (!isSeq(node)) {
        this.problem(where, path, "must be a list");
        return;
      }
      this.result.given.set(path, { value: node.items.length, origin: this.origin(where, path) });
      node.items.forEach((item, i) => {
        const target = this.target(item as Node);
        if (isMap(target)) this.readObject(target, schema, `${path}[${i}]`);
        else this.problem(offsetOf(item as Node), `${path}[${i}]`, "must be a map of fields");
      });
    } else if (isMap(node)) {
      this.readObject(node, schema, path);
    } else {
      this.problem(where, path, "must be a map of fields");
    }
  }

  private readField(node: Node, field: ConfigField, path: string, at: number): void {
    const before = this.result.problems.length;
    const plain = this.plain(node, path);
    if (this.result.problems.length > before) return;
    const value = fromConfig(field.type, field.type === "bool" ? yamlBool(node, plain) : plain);
    if (value === undefined)
      this.problem(
        at,
        path,
        `${field.type === "headerMap" ? "the value" : shorten(plain)} is not ${ACCEPTED[field.type]}`,
      );
    else this.result.given.set(path, { value, origin: this.origin(at, path) });
  }

  /** A field's value as plain data: a scalar, a list of scalars, or a map of scalars or of lists of scalars. */
  private plain(node: Node | null, path: string, depth = 0): unknown {
    if (isScalar(node)) return node.value;
    if (depth > 1 || node === null) return null;
    if (isSeq(node)) return node.items.map((item) => this.plain(this.target(item as Node), path, depth + 1));
    if (!isMap(node)) return null;
    const entries = new Map<string, unknown>();
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? String(key.value) : "";
      if (entries.has(name)) this.problem(offsetOf(key as Node), `${path}.${name}`, "given twice");
      entries.set(name, this.plain(this.target(value as Node | null), path, depth + 1));
    }
    return Object.fromEntries(entries);
  }

  /** What an alias stands for. Only known fields are followed, so an alias cannot expand without end. */
  private target(node: Node | null): Node | null {
    return node !== null && "source" in node && "resolve" in node ? (node.resolve(this.document) ?? null) : node;
  }

  private unknown(at: number, name: string, path: string, schema: Schema): void {
    const near = nearest(name, schema.children.keys());
    this.problem(at, path, `unknown field${near === undefined ? "" : `; did you mean ${near}?`}`);
  }

  private problem(offset: number, path: string, message: string): void {
    this.result.problems.push(`${this.origin(offset, path)}${path === "" ? "" : " "}${message}`);
  }

  private origin(offset: number, path: string): string {
    const { line, col } = this.lines.linePos(offset);
    return `${this.file}:${Math.max(line, 1)}:${Math.max(col, 1)}: ${path === "" ? "" : `${path}:`}`;
  }
}

/** Upstream's YAML reader takes yes, no, on and off for booleans. */
function yamlBool(node: Node, value: unknown): unknown {
  if (!isScalar(node) || node.type !== "PLAIN" || typeof value !== "string") return value;
  if (/^(yes|on|y)$/i.test(value)) return true;
  return /^(no|off|n)$/i.test(value) ? false : value;
}

function offsetOf(node: Node | null | undefined): number {
  return node?.range?.[0] ?? 0;
}

function shorten(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
