// The query of /logs for the node's log services (enableSystemLogQuery): its allowed values, and its errors.

import { omitUndefined } from "../../../../shared/base/objects/omit-undefined.js";
import { goTimeMs } from "../../../../shared/base/text/go-time.js";

/** A value that cannot be read: 400 with this text. */
export class NodeLogParseError extends Error {
  override readonly name = "NodeLogParseError";
}
/** Values that must not be, or not together: 406 with this text. */
export class NodeLogInvalidError extends Error {
  override readonly name = "NodeLogInvalidError";
}

export interface NodeLogOptions {
  /** Milliseconds since the epoch. */
  sinceTime?: number;
  untilTime?: number;
  tailLines?: number;
  boot?: number;
  pattern?: string;
}

export interface NodeLogQuery {
  services: string[];
  /** At most one. */
  files: string[];
  options: NodeLogOptions;
}

const MAX_SERVICES = 4;
const MAX_NAME = 256;
const MAX_TAIL = 100_000;

/** undefined: no query, the path names a file. @throws NodeLogParseError, NodeLogInvalidError */
export function nodeLogQuery(query: URLSearchParams): NodeLogQuery | undefined {
  if (!query.has("query")) return undefined;
  const asked = query.getAll("query").filter((text) => text.trim() !== "");
  const problems: string[] = [];
  if (asked.length === 0) problems.push(`query: Invalid value: ${quote(query.getAll("query"))}: query cannot be empty`);
  const read = <T>(name: string, parse: (text: string) => T | undefined, wrong: string): T | undefined => {
    const text = query.get(name) ?? "";
    const value = text === "" ? undefined : parse(text);
    if (text !== "" && value === undefined) problems.push(`${name}: Invalid value: ${quote(text)}: ${wrong}`);
    return value;
  };
  const sinceTime = read("sinceTime", goTimeMs, "invalid time format");
  const untilTime = read("untilTime", goTimeMs, "invalid time format");
  const boot = read("boot", whole, "invalid syntax");
  const tailLines = read("tailLines", whole, "invalid syntax");
  const pattern = query.get("pattern") ?? "";
  if (problems.length > 0) throw new NodeLogParseError(aggregate(problems));
  const found: NodeLogQuery = {
    services: asked.filter((text) => !/[/\\]/.test(text)),
    files: asked.filter((text) => /[/\\]/.test(text)),
    options: omitUndefined({
      sinceTime,
      untilTime,
      boot,
      tailLines,
      pattern: pattern === "" ? undefined : pattern,
    }),
  };
  const invalid = [...invalidities(found)];
  if (invalid.length > 0) throw new NodeLogInvalidError(aggregate(invalid));
  return found;
}

function* invalidities({ services, files, options }: NodeLogQuery): Iterable<string> {
  for (const name of services) {
    if (name.length > MAX_NAME) yield `query: Invalid value: ${quote(name)}: length must be less than ${MAX_NAME}`;
    else if (!/^[\w.:@-]+$/.test(name)) {
      yield `query: Invalid value: ${quote(name)}: input contains unsupported characters`;
    }
  }
  if (services.length > MAX_SERVICES) {
    yield `query: Too many: ${services.length}: must have at most ${MAX_SERVICES} items`;
  }
  const both = quote(`[${files.join(" ")}], [${services.join(" ")}]`);
  if (files.length > 0 && services.length > 0) {
    yield `query: Invalid value: ${both}: cannot specify a file and service`;
  } else if (files.length > 1) {
    yield `query: Invalid value: ${quote(files)}: cannot specify more than one file`;
  } else if (files.length === 1 && Object.keys(options).length > 0) {
    yield `query: Invalid value: ${quote(files)}: cannot specify file with options`;
  }
  const { sinceTime, untilTime, boot, tailLines, pattern } = options;
  if (sinceTime !== undefined && untilTime !== undefined && sinceTime > untilTime) {
    yield `untilTime: Invalid value: ${quote(new Date(untilTime).toISOString())}: must be after \`sinceTime\``;
  }
  if (boot !== undefined && boot > 0) yield `boot: Invalid value: ${boot}: must be less than 1`;
  if (tailLines !== undefined && (tailLines < 0 || tailLines > MAX_TAIL)) {
    yield `tailLines: Invalid value: ${tailLines}: must be between 0 and ${MAX_TAIL}, inclusive`;
  }
  if (pattern !== undefined && !isPattern(pattern)) {
    yield `pattern: Invalid value: ${quote(pattern)}: error parsing regexp`;
  }
}

function whole(text: string): number | undefined {
  return /^[+-]?\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function isPattern(text: string): boolean {
  try {
    new RegExp(text);
    return true;
  } catch {
    return false;
  }
}

function quote(value: unknown): string {
  return JSON.stringify(value);
}

function aggregate(problems: readonly string[]): string {
  return problems.length === 1 ? (problems[0] ?? "") : `[${problems.join(", ")}]`;
}
