// A cache whose entries expire at their own times. Bounded: a new entry replaces the least recently used one.

import type { Clock } from "../../../shared/base/clock/clock.js";

export class ExpiringCache<V> {
  private readonly entries = new Map<string, { value: V; until: number }>();

  constructor(
    private readonly limit: number,
    private readonly clock: Pick<Clock, "monotonic">,
  ) {}

  get size(): number {
    return this.entries.size;
  }

  get(key: string): V | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    this.entries.delete(key);
    if (entry.until <= this.clock.monotonic()) return undefined;
    this.entries.set(key, entry);
    return entry.value;
  }

  set(key: string, value: V, ttlMs: number): void {
    this.entries.delete(key);
    if (ttlMs <= 0) return;
    this.entries.set(key, { value, until: this.clock.monotonic() + ttlMs });
    const [oldest] = this.entries.keys();
    if (this.entries.size > this.limit && oldest !== undefined) this.entries.delete(oldest);
  }
}

/** One request at a time for each key: concurrent callers share the result. */
export class SharedQuestions<V> {
  private readonly open = new Map<string, Promise<V>>();

  ask(key: string, question: () => Promise<V>): Promise<V> {
    const known = this.open.get(key);
    if (known !== undefined) return known;
    const asked = question().finally(() => this.open.delete(key));
    this.open.set(key, asked);
    return asked;
  }
}
