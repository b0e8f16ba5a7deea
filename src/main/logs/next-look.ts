// Computes when to check the size of a container's log: soon enough that it cannot exceed its limit by much, and seldom
// for a log without writes. Pure.

/** Growth of a log between two checks. */
export interface Growth {
  size: number;
  /** Bytes since the look before. */
  grown: number;
  /** Milliseconds since the look before; 0 at the first look. */
  elapsedMs: number;
  /** How long was waited for this look. */
  waitedMs: number;
}

export interface NextLook {
  afterMs: number;
  /** Nothing was written for a while: let the next write wake us. */
  asleep: boolean;
}

/** No log is looked at more often: at 100 MB/s that is 25 MB beyond the limit. */
export const SOONEST_MS = 250;
/** A log that is written to is looked at this often at least, since its rate may jump. */
const ACTIVE_MS = 3000;

export function nextLook(growth: Growth, limits: { maxSize: number; monitorIntervalMs: number }): NextLook {
  const { size, grown, elapsedMs, waitedMs } = growth;
  const { maxSize, monitorIntervalMs } = limits;
  if (elapsedMs >= ACTIVE_MS && grown <= 0) return { afterMs: monitorIntervalMs, asleep: true };
  const longest = Math.min(ACTIVE_MS, monitorIntervalMs, Math.max(SOONEST_MS, waitedMs * 2));
  if (elapsedMs <= 0 || grown <= 0) return { afterMs: longest, asleep: false };
  const untilFull = ((maxSize - size) / grown) * elapsedMs;
  return { afterMs: Math.max(SOONEST_MS, Math.min(longest, untilFull)), asleep: false };
}
