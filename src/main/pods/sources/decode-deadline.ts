// The time that a manifest has in the tasks pool, by its size, and the fault of one that needs too much time or memory.

import type { ManifestViolation } from "../../../shared/kubernetes/api/manifest/violation.js";
import { TaskDeadlineError, TaskThreadError } from "../../threads/tasks-pool.js";

/** A pod takes milliseconds; the rest is room for a busy machine and a thread that has to start first. */
const DEADLINE_MS = 5_000;
const DEADLINE_MS_PER_MIB = 2_000;
/** Before this many tries a missed deadline is no verdict on a manifest; each try gets LATE_FACTOR times the time. */
export const LATE_TRIES = 2;
/**
 * Enough for a machine under full load; short enough that a file made to be slow does not hold up the others for long.
 */
const LATE_FACTOR = 4;

/** `lateTries`: how often this manifest has missed its deadline. */
export function decodeDeadlineMs(bytes: number, lateTries: number): number {
  return (DEADLINE_MS + Math.ceil((bytes / (1024 * 1024)) * DEADLINE_MS_PER_MIB)) * LATE_FACTOR ** lateTries;
}

/** The fault of a manifest that missed its deadline or ended its thread; undefined for errors of other kinds. */
export function decodeLimit(error: unknown, deadlineMs: number): ManifestViolation | undefined {
  const violation = (allowed: string): ManifestViolation => ({
    field: "",
    reason: "limit",
    allowed,
    line: 0,
    column: 0,
  });
  if (error instanceof TaskDeadlineError) return violation(`it must be readable within ${deadlineMs / 1000} s`);
  if (error instanceof TaskThreadError) return violation(`it must be readable with little memory; ${error.message}`);
  return undefined;
}
