// Sets up logging at start-up: main's logger, then the output for uncaught errors. The log thread starts when the first
// pods no longer need the processors, or soon in any case: until then lines wait in their rings.

import { fstatSync } from "node:fs";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { createLogger, moduleLogger, type Logger } from "../../../shared/telemetry/log/logger.js";
import type { LoggingConfig } from "../../../shared/telemetry/log/logging-config.js";
import { UncaughtErrors, type UncaughtOrigin } from "../../../shared/thread/uncaught.js";
import { LogThread } from "../../threads/log-thread.js";

export interface Logging {
  /** Starts the log thread now if it has not started. */
  startThread(): void;
  /** main's logger; supervised threads log through the same thread. */
  log: Logger;
  /** The value of -v now; setting it counts for every thread from its next line on. */
  verbosity: number;
  /** From now on an uncaught error ends the process only if UncaughtErrors decides so; `onError` counts. */
  surviveUncaught(onError: (origin: UncaughtOrigin) => void): void;
  /** Waits until all lines are written, `deadlineMs` at most; false: some are not. */
  flush(deadlineMs: number): Promise<boolean>;
  /** Ends the log thread; for tests, as a process ends without it. */
  stop(): Promise<void>;
}

/** Time limit for writing the last lines of a crash, ms. */
const LAST_WORDS_MS = 500;
/** A start that has come no further by then waits for something, and its lines say for what. */
const THREAD_AT_LATEST_MS = 500;

export function startLogging(config: LoggingConfig, clock: Clock): Logging {
  const thread: LogThread = new LogThread({
    config,
    journal: leadsToJournal(process.env["JOURNAL_STREAM"], 2),
    clock,
    onExit: (reason, delayMs) =>
      moduleLogger(log, "log-thread").warn({ reason, delayMs }, "the log thread exited; restarting it"),
  });
  const log = createLogger({ thread: "main", logging: thread.forThread("main"), clock, threadLogs: thread });
  const late = clock.after(THREAD_AT_LATEST_MS, () => thread.start()).unref();
  const die = (error: unknown): void => {
    // A full ring would drop the very line that matters.
    thread.flushNow(LAST_WORDS_MS);
    log.fatal({ err: error }, "uncaught error: the kubelet exits");
    thread.flushNow(LAST_WORDS_MS);
    process.exit(1);
  };
  let survived: UncaughtErrors | undefined;
  const onException = (error: unknown): void => {
    if (survived === undefined) die(error);
    else survived.caught(error, "exception");
  };
  const onRejection = (error: unknown): void => {
    if (survived === undefined) die(error);
    else survived.caught(error, "rejection");
  };
  process.on("uncaughtException", onException);
  process.on("unhandledRejection", onRejection);
  return {
    log,
    startThread: () => {
      late.cancel();
      thread.start();
    },
    surviveUncaught: (onError) => {
      survived = new UncaughtErrors({ clock, log, onError, end: die });
    },
    get verbosity() {
      return thread.verbosity;
    },
    set verbosity(verbosity) {
      thread.verbosity = verbosity;
    },
    flush: (deadlineMs) => thread.flush(deadlineMs),
    stop: async () => {
      late.cancel();
      process.off("uncaughtException", onException);
      process.off("unhandledRejection", onRejection);
      await thread.stop();
    },
  };
}

/** systemd passes the device and inode of the connected socket to a unit; a redirected descriptor has others. */
function leadsToJournal(journalStream: string | undefined, fd: number): boolean {
  if (journalStream === undefined) return false;
  try {
    const { dev, ino } = fstatSync(fd);
    return journalStream === `${dev}:${ino}`;
  } catch {
    // Closed: nothing to write to, and the log thread will find out.
    return false;
  }
}
