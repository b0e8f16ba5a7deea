// Prometheus text, format 0.0.4, of samples that carry their own times.

import { escapeLabel } from "../../../../shared/base/text/escape.js";

/**
 * Rows of one family, as the bytes that are sent. Twenty thousand kept strings would keep the garbage collector busy.
 */
class Family {
  private bytes: Buffer;
  private length: number;
  private readonly head: number;

  constructor(head: string) {
    this.bytes = Buffer.allocUnsafeSlow(Math.max(FIRST, 2 * head.length));
    this.length = this.bytes.write(head);
    this.head = this.length;
  }

  /** @param row without line break */
  push(row: string): void {
    // A UTF-16 unit is three bytes at most.
    const most = row.length * 3 + 1;
    if (this.length + most > this.bytes.length) {
      const larger = Buffer.allocUnsafeSlow(2 * this.bytes.length + most);
      this.bytes.copy(larger, 0, 0, this.length);
      this.bytes = larger;
    }
    this.length += this.bytes.write(row, this.length);
    this.bytes[this.length++] = NEWLINE;
  }

  get written(): Buffer | undefined {
    return this.length === this.head ? undefined : this.bytes.subarray(0, this.length);
  }
}

const FIRST = 1024;
const NEWLINE = 10;

/** Collects the rows of one page, family by family; families are shown in the order of their names. */
export class Page {
  private readonly families = new Map<string, Family>();

  /**
   * Rows of this family, to be pushed to. A family without rows is not shown.
   * @param help without line breaks and backslashes
   */
  family(name: string, type: "counter" | "gauge", help: string): Pick<Family, "push"> {
    let family = this.families.get(name);
    if (family === undefined) {
      family = new Family(`# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`);
      this.families.set(name, family);
    }
    return family;
  }

  /** One text per family, each ending in a newline. */
  chunks(): Buffer[] {
    return [...this.families.keys()].sort().flatMap((name) => this.families.get(name)?.written ?? []);
  }
}

/** `name="value",…` in the given order, without braces. */
export function labelText(labels: readonly (readonly [string, string])[]): string {
  return labels.map(([name, value]) => `${name}="${escapeLabel(value)}"`).join(",");
}
