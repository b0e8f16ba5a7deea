// The common part of all loggers of one thread: level, format and destination of lines. pino provides the interface and
// formats JSON; this file formats text lines itself.

import { format } from "node:util";
import { pino, type Logger as PinoLogger } from "pino";
import { systemClock, type Clock } from "../../base/clock/clock.js";
import { LogWords } from "../../base/queue/log-words.js";
import { errorText } from "./error-text.js";
import { FLUSH_DEADLINE_MS, RingSink, StderrSink, type LineSink, logBlockedError } from "./line-sink.js";
import { DEFAULT_LOGGING, type ThreadLogging } from "./logging-config.js";
import { moduleVerbosity } from "./module-verbosity.js";
import { textLine, withPriority } from "./text-line.js";
import {
  ERROR_LEVEL,
  EXTRA_LEVELS,
  FATAL_LEVEL,
  levelOfVerbosity,
  MAX_VERBOSITY,
  STACK_VERBOSITY,
  verbosityOfLevel,
  verbosityOfName,
  WARN_LEVEL,
} from "./verbosity.js";
import { WallMicros } from "./wall-micros.js";

export type Logger = PinoLogger;

export interface LoggerOptions {
  /** Name of the thread that logs: "main", "pleg", "server", … */
  thread: string;
  /** Format, level and output; default: text to standard error. */
  logging?: ThreadLogging;
  /** Without `logging`: "silent", or a pino level name; default "info". */
  level?: string;
  clock?: Clock;
  /** Output of lines, in place of the one in `logging`. */
  sink?: LineSink;
  /** In main: provides the logging configuration of the other threads, and flushes their lines. */
  threadLogs?: ThreadLogs;
}

/** main's side of the log: it hands every thread its way to the log thread. */
export interface ThreadLogs {
  forThread(thread: string): ThreadLogging;
  /** Lines lost so far, by thread. */
  dropped(): ReadonlyMap<string, number>;
  /** Resolves true once all that every thread logged is written, false when it is not by the deadline. */
  flush(deadlineMs: number): Promise<boolean>;
}

/** A property of every logger of this thread, children included: pino's children inherit from their parents. */
export const THREAD_LOG = Symbol("nodelet.log.thread-log");
export const MODULE = Symbol("nodelet.log.module");

interface Module {
  /** In place of klog's file:line. */
  caller: string;
  /** The level from --vmodule. */
  verbosity: number;
}

export type Marked = Logger & { [THREAD_LOG]?: ThreadLog; [MODULE]?: Module };

interface Call {
  fields: Readonly<Record<string, unknown>>;
  message: string;
}

type Method = (this: Logger, fields: object, message: string) => void;

export class ThreadLog {
  readonly root: Logger;
  readonly sink: LineSink;
  readonly config: ThreadLogging["config"];
  readonly journal: boolean;
  readonly threadLogs: ThreadLogs | undefined;
  readonly recent: ThreadLogging["recent"];
  private readonly level: { readonly verbosity: number };
  private readonly thread: Module;
  private readonly wall: WallMicros;
  /** A child's own fields, as text lines need them. */
  private readonly bindings = new WeakMap<Logger, Record<string, unknown>>();
  /** Whether the line that pino writes now is a warning or an error. */
  private severe = false;

  constructor(private readonly options: LoggerOptions) {
    const { thread, logging, clock = systemClock } = options;
    const verbosity = verbosityOfName(options.level ?? "info");
    this.config = logging?.config ?? { ...DEFAULT_LOGGING, verbosity };
    this.journal = logging?.journal ?? false;
    this.threadLogs = options.threadLogs;
    this.recent = logging?.recent;
    this.level = logging?.words === undefined ? this.config : new LogWords(logging.words);
    this.wall = new WallMicros(clock);
    this.thread = this.module(thread);
    const ring = logging?.ring;
    this.sink =
      options.sink ??
      (ring === undefined ? new StderrSink() : new RingSink(ring, clock, (lines) => this.lostLine(lines)));
    this.root = this.makeRoot(options.level === "silent" || logging?.silent === true);
  }

  module(caller: string): Module {
    return { caller, verbosity: moduleVerbosity(this.config.vmodule, this.options.thread, caller) };
  }

  /** klog's rule: -v opens every module, --vmodule can only open more. */
  verbosityOf(log: Logger): number {
    return Math.max(this.level.verbosity, this.moduleOf(log).verbosity);
  }

  private moduleOf(log: Logger): Module {
    return (log as Marked)[MODULE] ?? this.thread;
  }

  private makeRoot(silent: boolean): Logger {
    const onCall = (log: Logger, args: readonly unknown[], method: Method, level: number): void => {
      const verbosity = verbosityOfLevel(level);
      const limit = this.verbosityOf(log);
      if (verbosity > limit) return;
      const call = readCall(args);
      const { err } = call.fields;
      const wanted = (limit >= STACK_VERBOSITY || level >= FATAL_LEVEL) && call.fields["stack"] === undefined;
      const stack = wanted && err instanceof Error ? (err.stack ?? "") : "";
      this.severe = level >= WARN_LEVEL;
      if (this.config.format === "text") this.sink.write(this.text(log, level, call, stack), this.severe);
      else this.json(log, method, call, stack);
    };
    const stream = {
      write: (line: string): void => this.sink.write(line, this.severe),
      // pino calls this method of its stream, though its types don't declare it.
      flush: (done: (error?: Error) => void): void => this.flush(done),
    };
    const root = pino(
      {
        // Whether a line is written is decided in onCall, as the verbosity can change.
        level: silent ? "silent" : levelOfVerbosity(MAX_VERBOSITY),
        customLevels: EXTRA_LEVELS,
        base: { thread: this.options.thread },
        timestamp: () => `,"ts":${this.wall.now().toFixed(3)}`,
        formatters: { level: (_label, level) => jsonSeverity(level) },
        serializers: { err: errorText },
        hooks: {
          logMethod(args, method, level) {
            onCall(this, args, method, level);
          },
        },
      },
      stream,
    ) as unknown as Marked;
    root[THREAD_LOG] = this;
    return root;
  }

  private text(log: Logger, level: number, call: Call, stack: string): string {
    const fields = { ...this.bindingsOf(log), ...call.fields };
    const { caller } = this.moduleOf(log);
    const line = textLine({ level, at: this.wall.now(), caller, message: call.message, fields, stack });
    return this.journal ? withPriority(line, level, verbosityOfLevel(level)) : line;
  }

  private json(log: Logger, method: Method, call: Call, stack: string): void {
    const { caller } = this.moduleOf(log);
    const fields = { caller, ...call.fields };
    method.call(log, stack === "" ? fields : { ...fields, stack }, call.message);
  }

  /** The thread's name is the caller's already. */
  private bindingsOf(log: Logger): Record<string, unknown> {
    let found = this.bindings.get(log);
    if (found === undefined) {
      const { thread, ...rest } = log.bindings();
      found = thread === this.options.thread ? rest : { thread: thread as unknown, ...rest };
      this.bindings.set(log, found);
    }
    return found;
  }

  private lostLine(lines: number): string {
    const message = "dropped log lines: they were logged faster than they could be written";
    const { caller } = this.thread;
    if (this.config.format === "json") {
      const { thread } = this.options;
      return `${JSON.stringify({ severity: "warning", ts: this.wall.now(), thread, caller, lines, msg: message, v: 0 })}\n`;
    }
    const line = textLine({ level: WARN_LEVEL, at: this.wall.now(), caller, message, fields: { lines }, stack: "" });
    return this.journal ? withPriority(line, WARN_LEVEL, 0) : line;
  }

  private flush(done: (error?: Error) => void): void {
    const { threadLogs } = this;
    if (threadLogs === undefined) {
      this.sink.flush(done);
      return;
    }
    void threadLogs
      .flush(FLUSH_DEADLINE_MS)
      .then((flushed) => (flushed ? done() : done(logBlockedError(FLUSH_DEADLINE_MS))));
  }
}

/**
 * Upstream's lines have "v" unless they are errors; "severity" is an addition, because upstream has no mark for
 * warnings.
 */
function jsonSeverity(level: number): object {
  if (level >= ERROR_LEVEL) return { severity: level > ERROR_LEVEL ? "fatal" : "error" };
  return level >= WARN_LEVEL ? { severity: "warning", v: 0 } : { v: verbosityOfLevel(level) };
}

/** pino's ways to call: (message, …), (fields, message, …), (error, message, …). */
function readCall(args: readonly unknown[]): Call {
  const [first, ...rest] = args;
  if (typeof first !== "object" || first === null) return { fields: {}, message: phrase(args) };
  if (first instanceof Error)
    return { fields: { err: first }, message: rest.length > 0 ? phrase(rest) : first.message };
  const fields = first as Record<string, unknown>;
  if (rest.length > 0) return { fields, message: phrase(rest) };
  return { fields, message: fields["err"] === undefined ? "" : errorText(fields["err"]) };
}

function phrase([message, ...values]: readonly unknown[]): string {
  if (values.length > 0) return format(message, ...values);
  return typeof message === "string" ? message : format(message);
}
