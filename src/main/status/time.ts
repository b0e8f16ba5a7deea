// API time stamps: whole seconds, UTC.
import type { Time } from "../../shared/api/meta.js";

/** Milliseconds since the epoch to "2026-11-21T06:30:00Z". */
export function apiTime(ms: number): Time {
  return `${new Date(Math.floor(ms / 1000) * 1000).toISOString().slice(0, 19)}Z`;
}

/** CRI nanoseconds since the epoch to API time; 0 (never) to null. */
export function apiTimeFromNanos(nanos: bigint): Time | null {
  return nanos <= 0n ? null : apiTime(Number(nanos / 1_000_000n));
}
