// The tracer of this thread, and how code begins spans without knowing OpenTelemetry (docs/adr/0053).
// Invariant: while tracing is off nothing of OpenTelemetry is loaded, and a traced action costs one comparison.

import { messageOf } from "../../base/errors/thrown.js";

export type Attributes = Readonly<Record<string, string | number | boolean>>;
/** Lower case names, as a request brings them. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

export interface SpanSettings {
  kind?: "internal" | "client" | "server";
  attributes?: Attributes;
  /**
   * current: the span in whose `within` the code runs, if it has not ended. none: the span begins a trace.
   * Headers: the caller's span. Default current.
   */
  parent?: "current" | "none" | { headers: Headers };
  /** The span begins a trace, and only refers to the caller's span. */
  link?: { headers: Headers };
}

export interface OpenSpan {
  /** W3C headers that carry the span to another process. */
  headers(): Record<string, string>;
  set(attributes: Attributes): void;
  /** Records the error, and marks the span as failed. */
  fail(error: unknown): void;
  /** Runs the action. Spans that begin in it, or in calls that it awaits, are children of this span until it ends. */
  within<T>(action: () => T): T;
  /** Only the first call has an effect. */
  end(): void;
}

export interface Tracer {
  start(name: string, settings?: SpanSettings): OpenSpan;
}

/** The tracer of this thread; set once, before the thread's work begins. */
let installed: Tracer | undefined;

export function installTracer(tracer: Tracer | undefined): void {
  installed = tracer;
}

/** undefined: tracing is off in this thread. */
export function tracer(): Tracer | undefined {
  return installed;
}

/** Runs the action in a separate span. @param settings called only while tracing is on */
export function traced<T>(
  name: string,
  settings: () => SpanSettings,
  action: (span: OpenSpan | undefined) => Promise<T>,
): Promise<T> {
  return installed === undefined ? action(undefined) : inSpan(installed.start(name, settings()), action);
}

async function inSpan<T>(span: OpenSpan, action: (span: OpenSpan) => Promise<T>): Promise<T> {
  try {
    return await span.within(() => action(span));
  } catch (error) {
    span.fail(error);
    throw error;
  } finally {
    span.end();
  }
}

/** The message of a failed span: upstream's are one line. */
export function failureText(error: unknown): string {
  return messageOf(error).slice(0, 1024);
}
