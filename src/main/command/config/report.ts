// A violation as one line of the report: where the value stands, which field, what is wrong.
import type { Violation } from "../rules/rule.js";
import type { EffectiveConfig } from "./effective.js";
import { originText, type Origin } from "./origin.js";

/** "/etc/k.yaml:7:3: maxPods: …", "--max-pods: …", "port (default): …". */
export function reportLine({ path, message }: Violation, config: EffectiveConfig): string {
  if (path.startsWith("--")) return `${path}: ${message}`;
  const origin = config.origin(path);
  switch (origin.kind) {
    case "file":
    case "drop-in":
      return `${originText(origin)}: ${path}: ${message}`;
    case "flag":
      return path.includes("[") ? `--${origin.flag}: ${path}: ${message}` : `--${origin.flag}: ${message}`;
    case "default":
    case "derived":
      return `${path} (${originText(origin)}): ${message}`;
  }
}

/** Somebody wrote the value: not so of a default that stands in for a value that could not be read. */
export function isWritten({ path }: Violation, config: EffectiveConfig): boolean {
  return path.startsWith("--") || WRITTEN.includes(config.origin(path).kind);
}

const WRITTEN: readonly Origin["kind"][] = ["file", "drop-in", "flag"];
