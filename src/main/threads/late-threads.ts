// Which threads keep the watchdog from being fed. Pure: the board's picture in, names and numbers out.

import type { ThreadSnapshot } from "../../shared/base/queue/board.js";
import { ESSENTIAL } from "./thread-context.js";

/**
 * Longest age of a thread's stamp, ms, by thread name. Threads without a limit, and threads that were never started,
 * are not checked. Some threads start with their first work.
 */
export type StampLimits = Readonly<Record<string, number>>;

export interface LateThread {
  thread: string;
  /** ms since its last stamp; Infinity when it never made one or is not on the board. */
  ageMs: number;
  limitMs: number;
  state: ThreadSnapshot["state"];
  /** Code of the current operation; 0 is idle. */
  op: number;
  /** ms since it began that. */
  opAgeMs: number;
}

/** In the order of the limits. */
export function lateThreads(snapshot: readonly ThreadSnapshot[], limits: StampLimits): LateThread[] {
  const late: LateThread[] = [];
  for (const [thread, limitMs] of Object.entries(limits)) {
    const seen = snapshot.find((slot) => slot.thread === thread);
    if (seen !== undefined && (seen.state === "resting" || isUnstarted(seen) || isBetweenRuns(seen))) continue;
    const { ageMs = Infinity, state = "exited", op = 0, opAgeMs = 0 } = seen ?? {};
    if (ageMs > limitMs) late.push({ thread, ageMs, limitMs, state, op, opAgeMs });
  }
  return late;
}

/** The thread was never started: its slot is unchanged, or its supervisor has only read it. */
function isUnstarted({ state, generation, ageMs }: ThreadSnapshot): boolean {
  return generation === 0 && (state === "exited" || (state === "spawned" && ageMs === Infinity));
}

/** Its supervisor restarts it for ever, with back-off: ending the process would not bring it back sooner. */
function isBetweenRuns({ thread, state }: ThreadSnapshot): boolean {
  return !ESSENTIAL.has(thread) && (state === "exited" || state === "spawned");
}

/** The name of an operation code; undefined where the thread's contract has none. */
export type OpName = (thread: string, op: number) => string | undefined;

/** "pleg: last stamp 12500 ms ago, limit 10000 ms, running, in relist for 12400 ms" */
export function describeLate(late: LateThread, opName: OpName = () => undefined): string {
  const { thread, ageMs, limitMs, state, op, opAgeMs } = late;
  const stamp = ageMs === Infinity ? "never stamped" : `last stamp ${Math.round(ageMs)} ms ago`;
  const doing = op === 0 ? "" : `, in ${opName(thread, op) ?? `operation ${op}`} for ${Math.round(opAgeMs)} ms`;
  return `${thread}: ${stamp}, limit ${limitMs} ms, ${state}${doing}`;
}
