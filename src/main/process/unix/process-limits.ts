// The kubelet's process: its name, its privileges, and its limits in the kernel. Under memory pressure pods go first.
// Without CAP_SYS_RESOURCE the kubelet runs with the limits that it has.

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { setPriority } from "node:os";
import { isOsCallError, type OsCallError } from "../../../shared/io/os/errors.js";
import { openFilesLimit, setOpenFilesLimit, type Rlimit } from "../../../shared/io/os/rlimit.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";

/** Sets oom_score_adj (-1000..1000); a refusal is logged, not thrown. Returns whether it was set. */
export async function setOomScoreAdj(
  value: number,
  log: Pick<Logger, "warn">,
  path = "/proc/self/oom_score_adj",
): Promise<boolean> {
  try {
    await writeFile(path, String(value));
    return true;
  } catch (error) {
    log.warn(
      { err: error },
      `cannot set oom_score_adj of the kubelet to ${value}: it may be killed before its pods when memory runs out. ` +
        `Give it CAP_SYS_RESOURCE, or set oomScoreAdj to 0 or more`,
    );
    return false;
  }
}

/**
 * Above the runtime's children (0) and below the kernel's urgent threads: the kubelet syncs even when pods use every
 * core.
 */
export const AGENT_NICENESS = -5;

/**
 * Sets the niceness of all present threads. setpriority(2) is per thread on Linux, and later threads inherit it. V8's
 * and libuv's pools are older than the first line of JavaScript, and main waits for both. With autogroups the kernel
 * compares only threads of one session, and sessions by their own niceness. So that is set, too. A refusal is logged,
 * not thrown. Returns whether all was set. Source: sched(7).
 */
export function raisePriority(niceness: number, log: Pick<Logger, "info">): boolean {
  try {
    for (const thread of readdirSync("/proc/self/task")) setPriority(Number(thread), niceness);
    if (leadsSession() && existsSync(AUTOGROUP)) writeFileSync(AUTOGROUP, String(niceness));
    return true;
  } catch (error) {
    log.info(
      { err: error },
      `cannot set the kubelet's niceness to ${niceness}: it competes with its pods for processors`,
    );
    return false;
  }
}

const AUTOGROUP = "/proc/self/autogroup";

/**
 * The session of a kubelet that a shell started has other processes, which keep their priority. Field 6:
 * proc_pid_stat(5).
 */
function leadsSession(): boolean {
  const stat = readFileSync("/proc/self/stat", "utf8");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[3]) === process.pid;
}

/** The calls of `setMaxOpenFiles`; tests pass their own. */
export interface OpenFilesCalls {
  get(): Rlimit;
  set(limit: Rlimit): void;
}

/**
 * Sets how many files the kubelet may hold open. The hard limit is raised if needed, never lowered: a later start in
 * this process could not raise it again. A refusal (no CAP_SYS_RESOURCE, or above fs.nr_open) is logged, and the hard
 * limit is used. Returns the limit in force, Infinity for none; undefined when it is not known.
 */
export function setMaxOpenFiles(
  limit: number,
  log: Pick<Logger, "warn">,
  calls: OpenFilesCalls = { get: openFilesLimit, set: setOpenFilesLimit },
): number | undefined {
  try {
    const { hard } = calls.get();
    const refusal = tryLimit(calls, { soft: limit, hard: Math.max(limit, hard) });
    if (refusal === undefined) return limit;
    const allowed = Math.min(limit, hard);
    calls.set({ soft: allowed, hard });
    log.warn(
      { err: refusal, limit, allowed },
      `cannot set the kubelet's limit of open files to ${limit}: it continues with ${allowed}. ` +
        `Give it CAP_SYS_RESOURCE, raise fs.nr_open or LimitNOFILE= of its unit, or set maxOpenFiles to ${allowed} or less`,
    );
    return allowed;
  } catch (error) {
    log.warn({ err: error, limit }, `cannot set the kubelet's limit of open files to ${limit}: it stays as it was`);
    return undefined;
  }
}

function tryLimit(calls: OpenFilesCalls, limit: Rlimit): OsCallError | undefined {
  try {
    calls.set(limit);
    return undefined;
  } catch (error) {
    if (isOsCallError(error)) return error;
    throw error;
  }
}
