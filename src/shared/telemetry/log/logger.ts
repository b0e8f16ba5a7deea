// The loggers of a thread: pino's interface, klog's shapes and verbosity.
// Invariant: a call that is not written costs one check of the verbosity; a written one never blocks the thread.

import { RecentLines } from "../../base/queue/recent-lines.js";
import { DEFAULT_LOGGING, type ThreadLogging } from "./logging-config.js";
import { MODULE, THREAD_LOG, ThreadLog, type Logger, type LoggerOptions, type Marked } from "./thread-log.js";
import { levelOfVerbosity, verbosityOfName } from "./verbosity.js";

export type { ThreadLogs, Logger, LoggerOptions } from "./thread-log.js";

/** Makes the thread's logger. */
export function createLogger(options: LoggerOptions): Logger {
  return new ThreadLog(options).root;
}

/**
 * A logger for one module of a thread: its lines carry the name, and --vmodule finds it by it.
 * @param module base name of a source file, as --vmodule patterns expect: "sync-loop".
 */
export function moduleLogger(log: Logger, module: string): Logger {
  const child = log.child({}) as Marked;
  const threadLog = child[THREAD_LOG];
  if (threadLog !== undefined) child[MODULE] = threadLog.module(module);
  return child;
}

/** Logs at V(n); the same arguments as pino's methods. */
export type VerboseLog = (fields: object | string, message?: string) => void;

/** The logger for V(n), or undefined if that is off: `verbose(log, 5)?.({ big: build() }, "…")` builds nothing then. */
export function verbose(log: Logger, n: number): VerboseLog | undefined {
  const threadLog = (log as Marked)[THREAD_LOG];
  const name = levelOfVerbosity(n);
  if (threadLog === undefined ? !log.isLevelEnabled(name) : threadLog.verbosityOf(log) < n) return undefined;
  const method = (log as unknown as Record<string, VerboseLog>)[name];
  return method?.bind(log);
}

/** The init data by which a thread named `thread` logs as `log` does. */
export function loggingFor(log: Logger, thread: string): ThreadLogging {
  const threadLog = (log as Marked)[THREAD_LOG];
  if (threadLog === undefined) {
    const config = { ...DEFAULT_LOGGING, verbosity: verbosityOfName(log.level) };
    return { config, journal: false, silent: log.level === "silent" };
  }
  return (
    threadLog.threadLogs?.forThread(thread) ?? {
      config: threadLog.config,
      journal: threadLog.journal,
      silent: log.level === "silent",
    }
  );
}

/** Lines lost so far, by thread. */
export function droppedLines(log: Logger): ReadonlyMap<string, number> {
  return (log as Marked)[THREAD_LOG]?.threadLogs?.dropped() ?? new Map();
}

/** The last lines of the process, of all threads; "" for a logger without the log thread. */
export function recentLines(log: Logger): string {
  const recent = (log as Marked)[THREAD_LOG]?.recent;
  return recent === undefined ? "" : new RecentLines(recent).text();
}

/** For a thread about to exit, whose last lines would be lost otherwise. */
export function flushLogger(log: Logger): void {
  (log as Marked)[THREAD_LOG]?.sink.flushSync();
}
