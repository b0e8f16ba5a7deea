// What happened, line by line, and its hash: two runs of a seed have the same.

import { createHash } from "node:crypto";
import { kernel } from "./kernel.js";

/** Lines that a report can show. */
const KEPT = 200_000;

export class Trace {
  private readonly hash = createHash("sha256");
  readonly lines: string[] = [];

  constructor(private readonly onLine: ((line: string) => void) | undefined) {}

  add(text: string): void {
    const line = `${kernel.monotonic.toFixed(3)} ${kernel.steps} ${text}`;
    this.hash.update(`${line}\n`);
    this.lines.push(line);
    if (this.lines.length > KEPT) this.lines.splice(0, KEPT / 2);
    this.onLine?.(line);
  }

  digest(): string {
    return this.hash.copy().digest("hex");
  }
}
