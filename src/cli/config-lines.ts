// The configuration as lines: each value with its path and its origin. Pure.

/** As /configz?origin=1 has it. */
interface Origin {
  kind: string;
  file?: string;
  line?: number;
  column?: number;
  flag?: string;
  from?: string;
}

export interface Configz {
  kubeletconfig: Record<string, unknown>;
  /** By path: "maxPods", "evictionHard[memory.available]", "registerWithTaints[0].effect". */
  origins: Record<string, Origin>;
}

export interface ConfigLine {
  field: string;
  value: unknown;
  origin: string;
}

/** One line per value that has an origin and is set. */
export function configLines(config: Record<string, unknown>, origins: Readonly<Record<string, Origin>>): ConfigLine[] {
  return Object.entries(origins).flatMap(([field, origin]) => {
    const value = valueAt(config, field);
    return value === undefined ? [] : [{ field, value, origin: originText(origin) }];
  });
}

function valueAt(config: unknown, path: string): unknown {
  let value = config;
  for (const part of partsOf(path)) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Record<string, unknown>)[part];
  }
  return value;
}

/** The key in brackets may hold dots. */
function partsOf(path: string): string[] {
  return path
    .split("[")
    .flatMap((piece, index) => {
      const end = index === 0 ? 0 : piece.indexOf("]");
      const key = index === 0 ? [] : [piece.slice(0, end)];
      return [...key, ...piece.slice(index === 0 ? 0 : end + 1).split(".")];
    })
    .filter((part) => part !== "");
}

function originText({ kind, file, line, column, flag, from }: Origin): string {
  if (file !== undefined) return `${file}:${line ?? 0}:${column ?? 0}`;
  if (flag !== undefined) return `--${flag}`;
  return from === undefined ? kind : `derived from ${from}`;
}
