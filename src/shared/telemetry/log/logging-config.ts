// The logging part of a thread's init data: KubeletConfiguration's `logging` as plain data, and the shared memory for
// its lines.

import type { LogWordsBuffer } from "../../base/queue/log-words.js";
import type { RecentLinesBuffer } from "../../base/queue/recent-lines.js";
import type { RingBuffers } from "../../base/queue/ring.js";

export interface VModule {
  /** Glob for a module's name, or for "thread/module" when it holds a slash. */
  filePattern: string;
  verbosity: number;
}

/** KubeletConfiguration's `logging`; the options are those of the chosen format. */
export interface LoggingConfig {
  format: "text" | "json";
  /** -v: 0 and up. */
  verbosity: number;
  vmodule: VModule[];
  /** Longest time of an info line in the info buffer, ms. */
  flushFrequencyMs: number;
  /** Info lines to standard output, warnings and errors to standard error; else all to standard error. */
  splitStream: boolean;
  /** With splitStream: info lines wait until there are this many bytes of them. 0: they never wait. */
  infoBufferBytes: number;
}

export const DEFAULT_LOGGING: Readonly<LoggingConfig> = {
  format: "text",
  verbosity: 0,
  vmodule: [],
  flushFrequencyMs: 5000,
  splitStream: false,
  infoBufferBytes: 0,
};

/** One thread's way to the log; structured-cloneable. */
export interface ThreadLogging {
  config: LoggingConfig;
  /** Standard error is connected to the journal: text lines carry their syslog priority. */
  journal: boolean;
  /** Nothing is logged: tests. */
  silent?: boolean;
  /** Absent: the verbosity stays as configured. */
  words?: LogWordsBuffer;
  /** This thread's ring to the log thread; absent: lines go straight to standard error. */
  ring?: RingBuffers;
  /** The last lines of all threads. */
  recent?: RecentLinesBuffer;
}
