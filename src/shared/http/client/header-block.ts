// Header fields of a response, line by line, as Go's net/textproto reads them: lines may end with "\n" alone and may be folded
// (https://pkg.go.dev/net/textproto#Reader.ReadMIMEHeader). Invariant: only fields that a caller named are kept in memory.
import { quoteBytes, trimBlanks } from "../bytes.js";
import { canonicalName } from "./headers.js";
import { ReplyError } from "./reply-error.js";

/** A token, RFC 9110 section 5.6.2, or one with spaces in it, which Go's client bears. */
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z ]+$/;

const WRONG_VALUE = /[\x00-\x08\x0a-\x1f\x7f]/;

export class HeaderBlock {
  private readonly values = new Map<string, string[]>();
  /** A line that the next one may continue. */
  private open: string | undefined;

  /** `kept`: canonical names of the fields that are kept. */
  constructor(private readonly kept: ReadonlySet<string>) {}

  /** Takes a line without its line end. Returns true when it was the empty one, which ends the block. Throws ReplyError. */
  line(line: string): boolean {
    if (line.startsWith(" ") || line.startsWith("\t")) {
      if (this.open === undefined) throw malformed("header initial line", line);
      this.open = `${this.open} ${trimBlanks(line)}`;
      return false;
    }
    this.end();
    if (line === "") return true;
    if (!line.includes(":")) throw malformed("header: missing colon", line);
    this.open = trimBlanks(line);
    return false;
  }

  /** No more lines come. Throws ReplyError for the last one. */
  end(): void {
    const line = this.open;
    this.open = undefined;
    if (line === undefined) return;
    const colon = line.indexOf(":");
    const name = line.slice(0, colon);
    const value = line.slice(colon + 1);
    if (!NAME.test(name) || WRONG_VALUE.test(value)) throw malformed("header line", line);
    const key = canonicalName(name);
    if (!this.kept.has(key)) return;
    const all = this.values.get(key) ?? [];
    all.push(value.replace(/^[ \t]+/, ""));
    this.values.set(key, all);
  }

  /** All values of a kept field, byte strings, in their order; undefined if it is absent. */
  all(name: string): readonly string[] | undefined {
    return this.values.get(name);
  }
}

function malformed(what: string, line: string): ReplyError {
  return new ReplyError("head", `malformed MIME ${what}: ${quoteBytes(line)}`);
}
