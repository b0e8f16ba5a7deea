// Back-off between restarts of a container: 10 s doubling to 5 min, forgotten after 10 min of health.
// Pure: time comes in with every call. (status-rules.md, section 8.5; constants.tsv)

export interface BackoffCurve {
  /** Milliseconds. */
  baseMs: number;
  maxMs: number;
  /** An entry is forgotten when a container ran this long after its last step. */
  resetMs: number;
}

export const CRASH_BACKOFF: BackoffCurve = { baseMs: 10_000, maxMs: 300_000, resetMs: 600_000 };

interface Entry {
  delayMs: number;
  /** When the entry was last stepped: the finish of the container that was restarted then. */
  steppedAt: number;
}

export class Backoff {
  private readonly entries = new Map<string, Entry>();

  constructor(private readonly curve: BackoffCurve) {}

  /** When `key` may start again, or undefined when it may now. `failedAt` is when it last ended; milliseconds. */
  until(key: string, failedAt: number, now: number): number | undefined {
    const entry = this.live(key, failedAt);
    if (entry === undefined) return undefined;
    const until = failedAt + entry.delayMs;
    return until > now ? until : undefined;
  }

  /** The delay in force, milliseconds; 0 when none. */
  delay(key: string): number {
    return this.entries.get(key)?.delayMs ?? 0;
  }

  /** Records a start after a failure at `failedAt`: the next failure waits longer. */
  step(key: string, failedAt: number): void {
    const entry = this.live(key, failedAt);
    const delayMs = entry === undefined ? this.curve.baseMs : Math.min(entry.delayMs * 2, this.curve.maxMs);
    this.entries.set(key, { delayMs: Math.min(delayMs, this.curve.maxMs), steppedAt: failedAt });
  }

  /** Forgets every key that begins with `prefix`. */
  forget(prefix: string): void {
    for (const key of this.entries.keys()) if (key.startsWith(prefix)) this.entries.delete(key);
  }

  private live(key: string, failedAt: number): Entry | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    return failedAt - entry.steppedAt > this.curve.resetMs ? undefined : entry;
  }
}

/** Go's duration text for whole and fractional seconds: "10s", "1m20s", "5m0s". */
export function formatSeconds(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m${seconds % 60}s`;
  return `${Math.floor(minutes / 60)}h${minutes % 60}m${seconds % 60}s`;
}
