// Reads cgroup files that change only on a write: limits, shares, quotas. They are read every five minutes, and again
// when their pod changes: a resize shows in its status.

import type { Clock } from "../../../shared/base/clock/clock.js";
import type { ReadText } from "../../../shared/node/stats/kernel-file.js";

const LIFE_MS = 5 * 60000;

export class SettledFiles {
  private readonly texts = new Map<string, { text: string | undefined; at: number }>();

  constructor(
    private readonly file: ReadText,
    private readonly clock: Pick<Clock, "monotonic">,
  ) {}

  readonly read: ReadText = (path) => {
    const now = this.clock.monotonic();
    const known = this.texts.get(path);
    if (known !== undefined && now - known.at < LIFE_MS) return known.text;
    const text = this.file(path);
    this.texts.set(path, { text, at: now });
    return text;
  };

  /** The files at or below this cgroup, of any hierarchy, are read again. */
  forget(cgroup: string): void {
    for (const path of this.texts.keys()) if (path.includes(`${cgroup}/`)) this.texts.delete(path);
  }

  /** Files that were due and not requested since. */
  prune(): void {
    const now = this.clock.monotonic();
    for (const [path, { at }] of this.texts) if (now - at >= 2 * LIFE_MS) this.texts.delete(path);
  }

  get size(): number {
    return this.texts.size;
  }
}
