import type { Scanner } from "./scanner.js";
import type { Token } from "./tokens.js";
import { YamlError } from "./yaml-error.js";

const DEFAULTS: ReadonlyMap<string, string> = new Map([
  ["!", "!"],
  ["!!", "tag:yaml.org,2002:"],
]);

/** What the handles of tags stand for in a document: by its %TAG directives, or as YAML has it. */
export class TagDirectives {
  private readonly prefixes = new Map<string, string>();

  /** Takes the directives before a document. Throws YamlError. */
  read(scanner: Scanner): void {
    let version = false;
    for (;;) {
      const { type, start, value, suffix } = scanner.peek();
      if (type === "version directive") {
        if (version) throw new YamlError("%YAML is given twice", start);
        if (value !== "1.1") throw new YamlError(`YAML ${value} is not supported; Kubernetes reads YAML 1.1`, start);
        version = true;
      } else if (type === "tag directive") {
        if (this.prefixes.has(value)) throw new YamlError(`%TAG ${value} is given twice`, start);
        this.prefixes.set(value, suffix);
      } else return;
      scanner.take();
    }
  }

  clear(): void {
    this.prefixes.clear();
  }

  /** The whole tag. Throws YamlError. */
  resolve({ value: handle, suffix, start }: Token): string {
    if (handle === "") return suffix;
    const prefix = this.prefixes.get(handle) ?? DEFAULTS.get(handle);
    if (prefix === undefined) throw new YamlError(`the handle ${handle} of a tag is not defined`, start);
    return prefix + suffix;
  }
}
