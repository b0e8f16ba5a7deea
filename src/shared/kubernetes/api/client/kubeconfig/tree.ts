// A kubeconfig as a tree of fields that know their place in the file.

import type { KubernetesYaml } from "../../../../io/yaml/kubernetes-yaml.js";
import { offsetAt } from "../../../../io/yaml/tree.js";
import { YamlError } from "../../../../io/yaml/yaml-error.js";
import { KubeconfigError } from "./errors.js";

type Path = readonly (string | number)[];

/** One map of the file. An absent map reads as an empty one. */
export class Fields {
  constructor(
    private readonly document: KubeconfigDocument,
    readonly path: Path,
    private readonly members: Readonly<Record<string, unknown>>,
  ) {}

  /** "" when absent. */
  text(name: string): string {
    const value = this.members[name] ?? "";
    if (typeof value === "string") return value;
    // A password of digits alone is a number to YAML.
    if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean")
      throw this.wrong(name, "must be a text; put it in quotes");
    throw this.wrong(name, "must be a text");
  }
  bool(name: string): boolean {
    const value = this.members[name] ?? false;
    if (typeof value !== "boolean") throw this.wrong(name, "must be true or false");
    return value;
  }
  has(name: string): boolean {
    return this.members[name] !== undefined && this.members[name] !== null;
  }
  raw(name: string): unknown {
    return this.members[name];
  }
  map(name: string): Fields {
    return this.document.fields([...this.path, name], this.members[name] ?? {});
  }
  texts(name: string): string[] {
    const value = this.members[name] ?? [];
    // Go has its zero value in the place of null.
    const texts = Array.isArray(value) ? value.map((item: unknown) => item ?? "") : undefined;
    if (texts?.every((item) => typeof item === "string") !== true) {
      throw this.wrong(name, "must be a list of strings");
    }
    return texts;
  }
  list(name: string): Fields[] {
    const value = this.members[name] ?? [];
    if (!Array.isArray(value)) throw this.wrong(name, "must be a list");
    return value.map((item: unknown, index) => this.document.fields([...this.path, name, index], item ?? {}));
  }
  keys(): string[] {
    return Object.keys(this.members);
  }
  wrong(name: string, problem: string, options?: ErrorOptions): KubeconfigError {
    return this.document.wrong(name === "" ? this.path : [...this.path, name], problem, options);
  }
}

export class KubeconfigDocument {
  private constructor(
    readonly file: string,
    private readonly yaml: KubernetesYaml | undefined,
  ) {}

  /** Throws KubeconfigError. */
  static async parse(file: string, text: string | Uint8Array): Promise<Fields> {
    const { readKubernetesYaml } = await import("../../../../io/yaml/kubernetes-yaml.js");
    const blank = new KubeconfigDocument(file, undefined);
    try {
      const yaml = readKubernetesYaml(text);
      const { value } = yaml.root;
      if (value === null) throw blank.wrong([], "is empty");
      return new KubeconfigDocument(file, yaml).fields([], value);
    } catch (error) {
      if (error instanceof YamlError) throw new KubeconfigError(file, "", error.line, error.message, { cause: error });
      if (error instanceof RangeError) throw blank.wrong([], "is nested too deeply", { cause: error });
      throw error;
    }
  }

  fields(path: Path, value: unknown): Fields {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw this.wrong(path, "must be a map of fields");
    }
    return new Fields(this, path, value as Record<string, unknown>);
  }

  wrong(path: Path, problem: string, options?: ErrorOptions): KubeconfigError {
    const field = path.map((part) => (typeof part === "number" ? `[${part}]` : `.${part}`)).join("");
    return new KubeconfigError(this.file, field.replace(/^\./, ""), this.lineOf(path), problem, options);
  }

  /** Returns the line of the node at the path, or of the nearest one above it. */
  private lineOf(path: Path): number | undefined {
    if (this.yaml?.root.kind !== "map" || !this.yaml.root.members.has(String(path[0]))) return undefined;
    return this.yaml.lines.at(offsetAt(this.yaml.root, path)).line;
  }
}
