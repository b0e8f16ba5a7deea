// Header fields as Go's net/http keeps and sends them: canonical names, several values a name, sorted when they are
// sent.
// Invariant: names and values are byte strings (bytes.ts).

import { quoteBytes, toBytes } from "../bytes.js";
import { canonicalName, TOKEN } from "../field-name.js";

/** The header cannot be sent. */
export class HeaderError extends Error {
  override readonly name = "HeaderError";
}

const TOKENS = {
  close: /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i,
  upgrade: /(?:^|,)[ \t]*upgrade[ \t]*(?:,|$)/i,
};

/** Whether a comma-separated list of tokens in one of the values holds `token`, in any case. */
export function hasToken(values: readonly string[], token: keyof typeof TOKENS): boolean {
  return values.some((value) => TOKENS[token].test(value));
}

export class Headers {
  private readonly byName = new Map<string, string[]>();

  /** Appends a value; name and value are texts. */
  add(name: string, value: string): void {
    const key = canonicalName(toBytes(name));
    const values = this.byName.get(key);
    if (values === undefined) this.byName.set(key, [toBytes(value)]);
    else values.push(toBytes(value));
  }

  /** Replaces all values; `name` is canonical. */
  set(name: string, value: string): void {
    this.byName.set(name, [value]);
  }

  delete(name: string): void {
    this.byName.delete(name);
  }

  has(name: string): boolean {
    return this.byName.has(name);
  }

  /** The first value; "" if there is none. */
  get(name: string): string {
    return this.byName.get(name)?.[0] ?? "";
  }

  all(name: string): readonly string[] {
    return this.byName.get(name) ?? [];
  }

  copy(): Headers {
    const copy = new Headers();
    for (const [name, values] of this.byName) copy.byName.set(name, [...values]);
    return copy;
  }

  /** Sorted by name. Throws HeaderError when a field cannot be sent. */
  *fields(): Generator<[name: string, value: string]> {
    for (const [name, values] of [...this.byName].sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (!TOKEN.test(name)) throw new HeaderError(`net/http: invalid header field name ${quoteBytes(name)}`);
      for (const value of values) {
        if (/[\x00-\x08\x0a-\x1f\x7f]/.test(value)) {
          throw new HeaderError(`net/http: invalid header field value for ${quoteBytes(name)}`);
        }
        yield [name, value];
      }
    }
  }
}
