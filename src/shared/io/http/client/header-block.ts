// Header fields of a response. Invariant: only fields that a caller named are kept in memory.

import { FieldLines } from "../field-lines.js";
import { canonicalName } from "../field-name.js";
import { ReplyError } from "./reply-error.js";

export class HeaderBlock {
  private readonly values = new Map<string, string[]>();
  private readonly lines = new FieldLines({
    onField: (name, value) => this.keep(canonicalName(name), value),
    malformed: (message) => new ReplyError("head", message),
  });

  /** `kept`: canonical names of the fields that are kept. */
  constructor(private readonly kept: ReadonlySet<string>) {}

  /**
   * Takes a line without its line end. Returns true when it was the empty one, which ends the block. Throws ReplyError.
   */
  line(line: string): boolean {
    return this.lines.line(line);
  }

  /** No more lines come. Throws ReplyError for the last one. */
  end(): void {
    this.lines.end();
  }

  /** All values of a kept field, byte strings, in their order; undefined if it is absent. */
  all(name: string): readonly string[] | undefined {
    return this.values.get(name);
  }

  private keep(name: string, value: string): void {
    if (!this.kept.has(name)) return;
    const all = this.values.get(name) ?? [];
    all.push(value);
    this.values.set(name, all);
  }
}
