// The tracer of this process for one test, with its spans kept in memory.

import type { TestContext } from "node:test";
import { ExportResultCode } from "@opentelemetry/core";
import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace";
import { systemClock, type Clock } from "../../src/shared/base/clock/clock.js";
import type { Logger } from "../../src/shared/telemetry/log/logger.js";
import { OpenTelemetryTracer } from "../../src/shared/telemetry/tracing/otel.js";
import { installTracer } from "../../src/shared/telemetry/tracing/tracing.js";

export interface TracingKit {
  tracer: OpenTelemetryTracer;
  /** Log lines of the tracer. */
  lines: string[];
  /** Ends the tracer; what it has recorded, in the order of the ends. */
  readonly spans: () => Promise<ReadableSpan[]>;
}

export interface TracingKitOptions {
  samplingRatePerMillion?: number;
  exporter?: SpanExporter;
  clock?: Clock;
}

export const ALL = 1_000_000;
export const TRACE = "0af7651916cd43dd8448eb211c80319c";
export const CALLER = "b7ad6b7169203331";
/** Headers of a caller that samples its trace. */
export const SAMPLED = { traceparent: `00-${TRACE}-${CALLER}-01` };
export const UNSAMPLED = { traceparent: `00-${TRACE}-${CALLER}-00` };

export function traceThis(context: TestContext, options: TracingKitOptions = {}): TracingKit {
  const { samplingRatePerMillion = ALL, clock = systemClock } = options;
  const kept: ReadableSpan[] = [];
  const lines: string[] = [];
  const exporter: SpanExporter = options.exporter ?? {
    export: (spans, done) => {
      kept.push(...spans);
      done({ code: ExportResultCode.SUCCESS });
    },
    shutdown: () => Promise.resolve(),
  };
  const log = { warn: (_fields: object, line: string) => void lines.push(line) } as unknown as Logger;
  const config = { target: "127.0.0.1:1", samplingRatePerMillion, hostName: "node-1" };
  const tracer = new OpenTelemetryTracer({ config, exporter, clock, log });
  installTracer(tracer);
  context.after(() => installTracer(undefined));
  const spans = async (): Promise<ReadableSpan[]> => {
    await tracer.stop();
    return kept;
  };
  return { tracer, lines, spans };
}
