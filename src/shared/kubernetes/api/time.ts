// Times as the API writes them, RFC 3339 in UTC:
// https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#time-v1-meta

import type { Time } from "./meta.js";

/** meta/v1 Time: milliseconds since the epoch to "2026-11-21T06:30:00Z". */
export function apiTime(ms: number): Time {
  return `${new Date(Math.floor(ms / 1000) * 1000).toISOString().slice(0, 19)}Z`;
}

/** meta/v1 MicroTime: milliseconds since the epoch to "2026-11-21T06:30:00.123000Z". */
export function apiMicroTime(ms: number): string {
  return new Date(ms).toISOString().replace("Z", "000Z");
}

/**
 * CRI nanoseconds since the epoch to a Time. 0, of a container that never started, is the epoch itself, as upstream
 * shows it.
 */
export function apiTimeFromNanos(nanos: bigint): Time {
  return apiTime(Number(nanos / 1_000_000n));
}
