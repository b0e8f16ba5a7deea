import { isBlank, isBreak, isBreakOrEnd } from "./characters.js";
import type { SourceText } from "./encoding.js";
import { YamlError } from "./yaml-error.js";

/** A place in the text that moves forward. */
export class Cursor {
  readonly text: string;
  position = 0;
  /** Index of the first character of the line. */
  lineStart = 0;
  private readonly end: SourceText["end"];

  constructor(source: SourceText) {
    this.text = source.text;
    this.end = source.end;
  }

  get column(): number {
    return this.position - this.lineStart;
  }

  /** The code of a character ahead; 0 after the end. */
  code(ahead = 0): number {
    return this.text.charCodeAt(this.position + ahead) | 0;
  }

  /** Throws if the next characters cannot be read. */
  need(count: number): void {
    if (this.end !== undefined && this.position + count > this.end.offset) throw this.end.error;
  }

  /** Over characters that are no line breaks. */
  skip(count = 1): void {
    this.position += count;
  }

  skipBlanks(): void {
    while (isBlank(this.code())) this.position += 1;
    this.need(1);
  }

  /** A "#" here begins a comment, which ends with the line. */
  skipComment(): void {
    if (this.code() !== 0x23) return;
    while (!isBreakOrEnd(this.code())) this.position += 1;
    this.need(1);
  }

  /** Over a line break; returns it as YAML's values have it, "" if there is none. */
  readBreak(): string {
    const code = this.code();
    if (!isBreak(code)) return "";
    this.position += code === 0x0d && this.code(1) === 0x0a ? 2 : 1;
    this.lineStart = this.position;
    return code === 0x2028 ? "\u2028" : code === 0x2029 ? "\u2029" : "\n";
  }

  /** "---" or "..." at the beginning of a line. */
  atDocumentMarker(): boolean {
    if (this.column !== 0) return false;
    const code = this.code();
    if (code !== 0x2d && code !== 0x2e) return false;
    if (this.code(1) !== code || this.code(2) !== code) return false;
    return isBlank(this.code(3)) || isBreakOrEnd(this.code(3));
  }

  fail(message: string, offset = this.position): never {
    throw new YamlError(message, offset);
  }
}
