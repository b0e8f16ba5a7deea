// Reads TOML as far as configuration files of container runtimes use it: tables, arrays of tables, dotted names, all strings, arrays,
// inline tables. Numbers, dates and booleans stay text, but true and false. Pure. Throws for anything else.

export type Toml = string | boolean | Toml[] | { [name: string]: Toml };
type Table = Record<string, Toml>;

const DEPTH_LIMIT = 64;
const BARE_NAME = /[\w-]{1,256}/y;
const BARE_VALUE = /[\w.+:-]{1,256}/y;
const ESCAPES: Readonly<Record<string, string>> = { b: "\b", t: "\t", n: "\n", f: "\f", r: "\r", '"': '"', "\\": "\\" };

export function readToml(text: string): Table {
  return new Reader(text).document();
}

class Reader {
  private at = 0;
  private readonly root = newTable();

  constructor(private readonly text: string) {}

  document(): Table {
    let table = this.root;
    for (;;) {
      this.skip(/[\s]/);
      if (this.at >= this.text.length) return this.root;
      table = this.peek() === "[" ? this.header() : this.pair(table);
      this.endOfLine();
    }
  }

  private header(): Table {
    const isList = this.text.startsWith("[[", this.at);
    this.at += isList ? 2 : 1;
    const path = this.path();
    this.expect(isList ? "]]" : "]");
    const parent = tableAt(this.root, path.slice(0, -1));
    const name = path.at(-1) ?? "";
    if (!isList) return tableAt(parent, [name]);
    const list = parent[name] ?? [];
    if (!Array.isArray(list)) throw this.error("a table and a list have one name");
    parent[name] = list;
    const entry = newTable();
    list.push(entry);
    return entry;
  }

  private pair(table: Table, depth = 0): Table {
    const path = this.path();
    this.expect("=");
    const target = tableAt(table, path.slice(0, -1));
    target[path.at(-1) ?? ""] = this.value(depth);
    return table;
  }

  private path(): string[] {
    const path: string[] = [];
    do {
      this.skip(/[ \t]/);
      path.push(this.isQuote() ? this.string() : this.match(BARE_NAME));
      this.skip(/[ \t]/);
    } while (this.take("."));
    if (path.length > DEPTH_LIMIT) throw this.error("too deep");
    return path;
  }

  private value(depth: number): Toml {
    if (depth > DEPTH_LIMIT) throw this.error("too deep");
    this.skip(/[ \t]/);
    if (this.isQuote()) return this.string();
    if (this.take("[")) return this.array(depth);
    if (this.take("{")) return this.inline(depth);
    const word = this.match(BARE_VALUE);
    return word === "true" ? true : word === "false" ? false : word;
  }

  private array(depth: number): Toml[] {
    const list: Toml[] = [];
    for (;;) {
      this.skip(/\s/);
      if (this.take("]")) return list;
      list.push(this.value(depth + 1));
      this.skip(/\s/);
      if (!this.take(",")) {
        this.expect("]");
        return list;
      }
    }
  }

  private inline(depth: number): Table {
    const table = newTable();
    for (;;) {
      this.skip(/\s/);
      if (this.take("}")) return table;
      this.pair(table, depth + 1);
      this.skip(/\s/);
      if (!this.take(",")) {
        this.expect("}");
        return table;
      }
    }
  }

  private string(): string {
    const quote = this.peek();
    if (this.text.startsWith(quote.repeat(3), this.at)) return this.quoted(quote.repeat(3), true);
    return this.quoted(quote, false);
  }

  private quoted(mark: string, isLong: boolean): string {
    this.at += mark.length;
    const parts: string[] = [];
    while (!this.text.startsWith(mark, this.at)) {
      const char = this.text[this.at];
      if (char === undefined || (char === "\n" && !isLong)) throw this.error("a string does not end");
      if (char === "\\" && mark.startsWith('"')) parts.push(this.escape());
      else {
        parts.push(char);
        this.at++;
      }
    }
    this.at += mark.length;
    return parts.join("");
  }

  private escape(): string {
    const code = this.text[this.at + 1] ?? "";
    const hex = code === "u" ? 4 : code === "U" ? 8 : 0;
    const digits = this.text.slice(this.at + 2, this.at + 2 + hex);
    this.at += 2 + hex;
    if (hex > 0) return String.fromCodePoint(Number.parseInt(digits, 16));
    return ESCAPES[code] ?? code;
  }

  /** Comments are skipped with the characters. */
  private skip(characters: RegExp): void {
    for (;;) {
      const char = this.peek();
      if (char === "#") this.at = this.lineEnd();
      else if (char !== "" && characters.test(char)) this.at++;
      else return;
    }
  }

  private endOfLine(): void {
    this.skip(/[ \t\r]/);
    if (this.at < this.text.length && this.peek() !== "\n") throw this.error("a line goes on behind its value");
  }

  private lineEnd(): number {
    const end = this.text.indexOf("\n", this.at);
    return end < 0 ? this.text.length : end;
  }

  private peek(): string {
    return this.text[this.at] ?? "";
  }

  private isQuote(): boolean {
    return this.peek() === '"' || this.peek() === "'";
  }

  private take(mark: string): boolean {
    if (!this.text.startsWith(mark, this.at)) return false;
    this.at += mark.length;
    return true;
  }

  private expect(mark: string): void {
    this.skip(/[ \t]/);
    if (!this.take(mark)) throw this.error(`${mark} is missing`);
  }

  private match(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const [found] = pattern.exec(this.text) ?? [];
    if (found === undefined) throw this.error("a name or a value is missing");
    this.at += found.length;
    return found;
  }

  /** Without the text: it may be secret. */
  private error(what: string): Error {
    return new Error(`at character ${this.at}: ${what}`);
  }
}

/** Names are those of a file: none has a meaning for JavaScript. */
function newTable(): Table {
  return Object.create(null) as Table;
}

/** The table at `path`, made where there is none; of a list of tables, its last. */
function tableAt(from: Table, path: readonly string[]): Table {
  let table = from;
  for (const name of path) {
    const found = (table[name] ??= newTable());
    const next = Array.isArray(found) ? found.at(-1) : found;
    if (typeof next !== "object" || Array.isArray(next)) throw new Error("a name has two values");
    table = next;
  }
  return table;
}
