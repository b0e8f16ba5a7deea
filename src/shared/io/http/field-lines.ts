// Header fields, line by line, as Go's net/textproto reads them, for requests, responses and trailers: lines may end
// with "\n" alone and may be folded (https://pkg.go.dev/net/textproto#Reader.ReadMIMEHeader). Invariant: nothing is
// kept here but the line that the next one may continue.

import { quoteBytes, trimBlanks } from "./bytes.js";
import { canonicalName } from "./field-name.js";

/** A token, RFC 9110 section 5.6.2, or one with spaces in it, which net/textproto bears. */
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z ]+$/;

const WRONG_VALUE = /[\x00-\x08\x0a-\x1f\x7f]/;

export interface FieldReader {
  /** A field; name and value are byte strings. */
  onField: (name: string, value: string) => void;
  /** The error of a line that is no field. */
  malformed: (message: string) => Error;
}

export class FieldLines {
  /** The line's parts: each is a folded line of it. */
  private open: string[] = [];

  constructor(private readonly reader: FieldReader) {}

  /** Lines of the field that the next line may continue. */
  get openLines(): number {
    return this.open.length;
  }

  /**
   * Takes a line without its line end. Returns true when it was the empty one, which ends the block. Throws the
   * reader's error.
   */
  line(line: string): boolean {
    if (line.startsWith(" ") || line.startsWith("\t")) {
      if (this.open.length === 0) throw this.malformed("header initial line", line);
      this.open.push(trimBlanks(line));
      return false;
    }
    this.end();
    if (line === "") return true;
    if (!line.includes(":")) throw this.malformed("header: missing colon", line);
    this.open.push(trimBlanks(line));
    return false;
  }

  /** No more lines come. Throws the reader's error for the last one. */
  end(): void {
    const [only, second] = this.open;
    if (only === undefined) return;
    const line = second === undefined ? only : this.open.join(" ");
    this.open = [];
    const colon = line.indexOf(":");
    const name = line.slice(0, colon);
    const value = line.slice(colon + 1);
    if (!NAME.test(name)) throw this.malformed("header line", line);
    if (WRONG_VALUE.test(value)) throw this.malformed("header line", `${canonicalName(name)}:${value}`);
    this.reader.onField(name, value.replace(/^[ \t]+/, ""));
  }

  private malformed(what: string, line: string): Error {
    return this.reader.malformed(`malformed MIME ${what}: ${quoteBytes(line)}`);
  }
}
