// The expressions of GitHub's workflows, `${{ … }}`: whether they can be parsed, and what they refer to.
// https://docs.github.com/en/actions/reference/workflows-and-actions/expressions

export interface Reference {
  /** As `steps.build.outputs.digest`: names, without indexes. */
  path: readonly string[];
}

export interface Expression {
  text: string;
  references: readonly Reference[];
  /** Undefined: it can be parsed. */
  fault: string | undefined;
}

const FUNCTIONS: Readonly<Record<string, readonly [least: number, most: number]>> = {
  contains: [2, 2],
  startswith: [2, 2],
  endswith: [2, 2],
  format: [1, 99],
  join: [1, 2],
  tojson: [1, 1],
  fromjson: [1, 1],
  hashfiles: [1, 99],
  success: [0, 0],
  always: [0, 0],
  cancelled: [0, 0],
  failure: [0, 0],
};
const TOKEN = /\s*(?:('(?:[^']|'')*')|(0x[\da-f]+|-?\d+(?:\.\d+)?)|(&&|\|\||[<>=!]=|[<>!()[\],.*])|([a-z_][\w-]*))/iy;
const OPERATORS = ["&&", "||", "==", "!=", "<", ">", "<=", ">="];

/** All expressions of a text, which may be none. */
export function expressionsIn(text: string): Expression[] {
  const found: Expression[] = [];
  for (let at = text.indexOf("${{"); at >= 0; at = text.indexOf("${{", at + 1)) {
    const end = text.indexOf("}}", at);
    if (end < 0) found.push({ text: text.slice(at), references: [], fault: "it has no end" });
    else found.push(parseExpression(text.slice(at + 3, end)));
  }
  return found;
}

/** Also for `if:`, which needs no `${{`. */
export function parseExpression(text: string): Expression {
  const parser = new Parser(text);
  try {
    parser.whole();
    return { text: text.trim(), references: parser.references, fault: undefined };
  } catch (error) {
    return { text: text.trim(), references: [], fault: error instanceof Error ? error.message : String(error) };
  }
}

class Parser {
  readonly references: Reference[] = [];
  private readonly tokens: string[] = [];
  private next = 0;

  constructor(text: string) {
    TOKEN.lastIndex = 0;
    const trimmed = text.trimEnd();
    while (TOKEN.lastIndex < trimmed.length) {
      const at = TOKEN.lastIndex;
      const match = TOKEN.exec(trimmed);
      if (match === null) {
        this.tokens.push(`\u0000${trimmed.slice(at, at + 10)}`);
        return;
      }
      this.tokens.push(match[0].trim());
    }
  }

  whole(): void {
    if (this.tokens.length === 0) throw new Error("it is empty");
    this.operation();
    if (this.next < this.tokens.length) throw new Error(`${this.shown()} is one word too many`);
  }

  private operation(): void {
    this.operand();
    while (OPERATORS.includes(this.tokens[this.next] ?? "")) {
      this.next++;
      this.operand();
    }
  }

  private operand(): void {
    const token = this.tokens[this.next++];
    if (token === undefined) throw new Error("it ends too early");
    if (token === "!") this.operand();
    else if (token === "(") {
      this.operation();
      this.expect(")");
    } else if (token.startsWith("'") || /^(?:-?\d|0x)/.test(token)) return;
    else if (!/^[a-z_]/i.test(token)) throw new Error(`${JSON.stringify(token.replace("\u0000", ""))} is not expected`);
    else if (this.tokens[this.next] === "(") this.call(token.toLowerCase());
    else if (!["true", "false", "null"].includes(token)) this.reference(token);
  }

  private call(name: string): void {
    const limits = FUNCTIONS[name];
    if (limits === undefined) throw new Error(`${name}() is no function`);
    this.next++;
    let count = 0;
    if (this.tokens[this.next] !== ")") {
      do {
        this.operation();
        count++;
      } while (this.tokens[this.next] === "," && this.next++ >= 0);
    }
    this.expect(")");
    if (count < limits[0] || count > limits[1]) throw new Error(`${name}() takes no ${count} arguments`);
  }

  private reference(first: string): void {
    const path = [first];
    for (;;) {
      const token = this.tokens[this.next];
      if (token === ".") {
        const name = this.tokens[this.next + 1] ?? "";
        if (!/^(?:[a-z_][\w-]*|\*)$/i.test(name)) throw new Error(`a name is missing after ${path.join(".")}.`);
        path.push(name);
        this.next += 2;
      } else if (token === "[") {
        this.next++;
        this.operation();
        this.expect("]");
      } else break;
    }
    this.references.push({ path });
  }

  private expect(token: string): void {
    if (this.tokens[this.next++] !== token) throw new Error(`${token} is missing`);
  }

  private shown(): string {
    return JSON.stringify(this.tokens[this.next]?.replace("\u0000", ""));
  }
}
