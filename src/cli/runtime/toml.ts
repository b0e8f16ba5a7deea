// Strings, booleans and lists of strings in TOML, by table: what the configurations of containerd and CRI-O say about their network.
// Other values are skipped. A line that is no TOML is skipped, too: the runtime itself reports it. Pure, one pass over the text.

export type TomlValue = string | boolean | readonly string[];

export class TomlTables {
  private readonly tables = new Map<string, Map<string, TomlValue>>();

  /** The value of a key in a table; undefined: not set, or of another kind. */
  value(table: readonly string[], key: string): TomlValue | undefined {
    return this.tables.get(JSON.stringify(table))?.get(key);
  }

  text(table: readonly string[], key: string): string | undefined {
    const value = this.value(table, key);
    return typeof value === "string" ? value : undefined;
  }

  list(table: readonly string[], key: string): readonly string[] | undefined {
    const value = this.value(table, key);
    return typeof value === "object" ? value : undefined;
  }

  set(table: readonly string[], key: string, value: TomlValue): void {
    const name = JSON.stringify(table);
    const values = this.tables.get(name) ?? new Map<string, TomlValue>();
    values.set(key, value);
    this.tables.set(name, values);
  }
}

/** Later values win: pass the tables of an earlier file to read a drop-in over it. */
export function readToml(text: string, tables: TomlTables = new TomlTables()): TomlTables {
  const lines = text.split(/\r?\n/);
  let table: string[] = [];
  for (let index = 0; index < lines.length; index++) {
    const line = (lines[index] ?? "").trim();
    if (line.startsWith("[")) {
      table = namesIn(line.replace(/^\[+/, "")) ?? [];
      continue;
    }
    const name = /^(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')/.exec(line)?.[0];
    const value = line.slice(name?.length ?? 0).trimStart();
    if (name === undefined || !value.startsWith("=")) continue;
    const start = value.slice(1).trimStart();
    const quotes = /^("""|''')/.exec(start)?.[1];
    if (quotes !== undefined) {
      if (!start.slice(3).includes(quotes)) while (++index < lines.length && !(lines[index] ?? "").includes(quotes));
      continue;
    }
    let rest = start;
    if (start.startsWith("[")) {
      const parts = [start];
      while (!isClosed(parts.at(-1) ?? "") && index + 1 < lines.length) parts.push(lines[++index] ?? "");
      rest = parts.map((part) => withoutComment(part)).join(" ");
    }
    const read = valueOf(rest);
    if (read !== undefined) tables.set(table, unquoted(name), read);
  }
  return tables;
}

/** The names of a table's head: `plugins."io.containerd.grpc.v1.cri".cni]`. */
function namesIn(head: string): string[] | undefined {
  const names: string[] = [];
  const pattern = /\s*([A-Za-z0-9_-]+|"[^"]*"|'[^']*')\s*([.\]])/y;
  for (;;) {
    const [, name, end] = pattern.exec(head) ?? [];
    if (name === undefined) return undefined;
    names.push(unquoted(name));
    if (end === "]") return names;
  }
}

const STRING = /"((?:[^"\\]|\\.)*)"|'([^']*)'/;

function valueOf(text: string): TomlValue | undefined {
  const bool = /^(true|false)\b/.exec(text)?.[1];
  if (bool !== undefined) return bool === "true";
  if (!text.startsWith("[")) {
    const found = STRING.exec(text);
    return found?.index === 0 ? stringOf(found) : undefined;
  }
  const items = [...text.matchAll(new RegExp(STRING, "g"))].map(stringOf);
  // A list of numbers or tables is none of strings.
  const other = text.replaceAll(new RegExp(STRING, "g"), "").replaceAll(/[[\],\s]/g, "");
  return other === "" ? items : undefined;
}

function stringOf([, basic, literal]: RegExpMatchArray): string {
  return literal ?? (basic ?? "").replaceAll(/\\(["\\])/g, "$1");
}

function isClosed(line: string): boolean {
  return withoutComment(line).replaceAll(new RegExp(STRING, "g"), "").includes("]");
}

function withoutComment(line: string): string {
  const blanked = line.replaceAll(new RegExp(STRING, "g"), (string) => " ".repeat(string.length));
  const at = blanked.indexOf("#");
  return at < 0 ? line : line.slice(0, at);
}

function unquoted(name: string): string {
  return /^["']/.test(name) ? name.slice(1, -1) : name;
}
