// Computes when to check the size of a container's log. The check comes before the log can exceed its limit by much;
// for a log without writes it comes seldom. Pure.

/** Growth of a log between two checks. */
export interface Growth {
  size: number;
  /** Bytes since the last inspection. */
  grown: number;
  /** Milliseconds since the last inspection; 0 at the first one. */
  elapsedMs: number;
  /** The planned delay before this inspection. */
  waitedMs: number;
}

interface NextLook {
  afterMs: number;
  /** Nothing was written for a while: let the next write wake us. */
  asleep: boolean;
}

/** Minimum interval: at 100 MB/s that is 25 MB beyond the limit. */
export const SOONEST_MS = 250;
/** Maximum interval for a log that is being written, since its rate may jump. */
const ACTIVE_MS = 3000;

export function nextLook(growth: Growth, limits: { maxSize: number; monitorIntervalMs: number }): NextLook {
  const { size, grown, elapsedMs, waitedMs } = growth;
  const { maxSize, monitorIntervalMs } = limits;
  // A new log that is empty or has not grown since the first check. Most containers write few lines or none.
  const quietFromTheStart = waitedMs <= SOONEST_MS && (size === 0 || elapsedMs > 0);
  if (grown <= 0 && (elapsedMs >= ACTIVE_MS || quietFromTheStart)) return { afterMs: monitorIntervalMs, asleep: true };
  const longest = Math.min(ACTIVE_MS, monitorIntervalMs, Math.max(SOONEST_MS, waitedMs * 2));
  if (elapsedMs <= 0 || grown <= 0) return { afterMs: longest, asleep: false };
  const untilFull = ((maxSize - size) / grown) * elapsedMs;
  return { afterMs: Math.max(SOONEST_MS, Math.min(longest, untilFull)), asleep: false };
}
