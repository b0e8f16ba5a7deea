// CPU usage as a rate from two samples at least a second apart. It covers ten seconds, or the time since the previous
// request.
const SHORTEST_MS = 1000;
/** A sample older than this makes way for a newer one. */
const WINDOW_MS = 10_000;

interface Entry {
  base: { at: number; usage: number };
  seen: number;
  rate?: number;
}

export class CpuRates {
  private readonly entries = new Map<string, Entry>();

  /**
   * Takes a sample; returns the rate as of now.
   * @param at milliseconds @param usage nanoseconds @returns nanoseconds per second; undefined: there is but one sample
   */
  rate(id: string, at: number, usage: number): number | undefined {
    const known = this.entries.get(id);
    if (known === undefined || usage < known.base.usage || at < known.base.at) {
      // A new cgroup, a cgroup created again under the same name, or a clock that was set back.
      this.entries.set(id, { base: { at, usage }, seen: at });
      return undefined;
    }
    known.seen = at;
    const passed = at - known.base.at;
    if (passed >= SHORTEST_MS) known.rate = Math.round(((usage - known.base.usage) * 1000) / passed);
    if (passed >= WINDOW_MS) known.base = { at, usage };
    return known.rate;
  }

  /** Drops cgroups that were not sampled since. */
  forgetBefore(at: number): void {
    for (const [id, { seen }] of this.entries) if (seen < at) this.entries.delete(id);
  }

  get size(): number {
    return this.entries.size;
  }
}
