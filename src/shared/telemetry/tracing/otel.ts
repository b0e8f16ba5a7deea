// The tracer by OpenTelemetry: sampling, W3C trace context, batches sent by OTLP over gRPC (docs/adr/0053). Loaded only
// when tracing is on.
// Invariant: no caller ever waits for the collector. Spans wait in a bounded queue; beyond it they are dropped, and the
// log says how many. A flush at the end has a deadline.

import { AsyncLocalStorage } from "node:async_hooks";
import {
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Link,
  type Span,
  type TextMapGetter,
  type Tracer as OtelTracer,
} from "@opentelemetry/api";
import {
  CompositePropagator,
  setGlobalErrorHandler,
  W3CBaggagePropagator,
  W3CTraceContextPropagator,
} from "@opentelemetry/core";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type Sampler,
  type SpanExporter,
} from "@opentelemetry/sdk-trace";
import type { Clock } from "../../base/clock/clock.js";
import { asError } from "../../base/errors/thrown.js";
import type { Logger } from "../log/logger.js";
import { ExportProblems } from "./export-problems.js";
import { AbandonableExporter } from "./span-export.js";
import { type TracingConfig } from "./tracing-config.js";
import {
  failureText,
  type Attributes,
  type Headers,
  type OpenSpan,
  type SpanSettings,
  type Tracer,
} from "./tracing.js";

/** Upstream's instrumentation scope. */
const SCOPE = "k8s.io/kubernetes/pkg/kubelet";
const MILLION = 1_000_000;
/** A thread keeps at most this many ended spans, as upstream does. */
const QUEUE = 2048;
/** A batch is encoded at once: small enough that the thread continues after a few milliseconds. */
const BATCH = 64;
const BATCH_DELAY_MS = 5000;
const LONGEST_TEXT = 4096;
/** Time limit for the last batch at the end of a thread. */
const FLUSH_MS = 1000;

const KINDS = { internal: SpanKind.INTERNAL, client: SpanKind.CLIENT, server: SpanKind.SERVER } as const;

const HEADER_GETTER: TextMapGetter<Headers> = {
  keys: (from) => Object.keys(from),
  get: (from, key) => from[key],
};

function setHeader(headers: Record<string, string>, name: string, value: string): void {
  headers[name] = value;
}

export interface TracerDeps {
  config: TracingConfig;
  exporter: SpanExporter;
  clock: Clock;
  log: Logger;
}

/** A span's context while code runs for it. */
interface Scope {
  readonly context: Context;
  open: boolean;
}

function samplerOf(samplingRatePerMillion: number): Sampler {
  const root =
    samplingRatePerMillion > 0
      ? new TraceIdRatioBasedSampler(samplingRatePerMillion / MILLION)
      : new AlwaysOffSampler();
  return new ParentBasedSampler({ root });
}

export class OpenTelemetryTracer implements Tracer {
  private readonly provider: TracerProvider;
  private readonly spans: OtelTracer;
  private readonly problems: ExportProblems;
  private readonly exporter: AbandonableExporter;
  private readonly scopes = new AsyncLocalStorage<Scope>();
  private readonly propagator = new CompositePropagator({
    propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()],
  });

  constructor(private readonly deps: TracerDeps) {
    const { config, clock, log } = deps;
    this.exporter = new AbandonableExporter(deps.exporter);
    this.problems = new ExportProblems(config.target, clock, log);
    setGlobalErrorHandler((error) => this.problems.failed(error));
    diag.setLogger(this.problems.diagnostics, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
    this.provider = new TracerProvider({
      resource: resourceFromAttributes({ "service.name": "kubelet", "host.name": config.hostName }),
      sampler: samplerOf(config.samplingRatePerMillion),
      spanLimits: { attributeValueLengthLimit: LONGEST_TEXT },
      spanProcessors: [
        new BatchSpanProcessor({
          exporter: this.exporter,
          maxQueueSize: QUEUE,
          maxExportBatchSize: BATCH,
          scheduledDelayMillis: BATCH_DELAY_MS,
        }),
      ],
    });
    this.spans = this.provider.getTracer(SCOPE);
  }

  start(name: string, { kind = "internal", attributes = {}, parent = "current", link }: SpanSettings = {}): OpenSpan {
    const context = link === undefined ? this.parentOf(parent) : ROOT_CONTEXT;
    const links = link === undefined ? [] : this.linksTo(link.headers);
    const span = this.spans.startSpan(name, { kind: KINDS[kind], attributes, links }, context);
    return this.opened(span, context);
  }

  /** Sends the pending spans, if the collector accepts them in time. Never rejects. */
  async stop(): Promise<void> {
    const { clock } = this.deps;
    let late: (() => void) | undefined;
    const timer = clock.after(FLUSH_MS, () => late?.());
    const deadline = new Promise<void>((resolve) => (late = resolve));
    const flushed = this.provider.shutdown().catch((error: unknown) => this.problems.failed(error));
    await Promise.race([flushed, deadline]);
    timer.cancel();
    this.exporter.abandon();
    diag.disable();
  }

  private opened(span: Span, parent: Context): OpenSpan {
    const scope: Scope = { context: trace.setSpan(parent, span), open: true };
    return {
      headers: () => {
        const headers: Record<string, string> = {};
        this.propagator.inject(scope.context, headers, { set: setHeader });
        return headers;
      },
      set: (attributes: Attributes) => void span.setAttributes(attributes),
      fail: (error: unknown) => {
        span.recordException(asError(error));
        span.setStatus({ code: SpanStatusCode.ERROR, message: failureText(error) });
      },
      within: (action) => this.scopes.run(scope, action),
      end: () => {
        if (!scope.open) return;
        scope.open = false;
        span.end();
      },
    };
  }

  private parentOf(parent: NonNullable<SpanSettings["parent"]>): Context {
    if (typeof parent === "object") return this.extracted(parent.headers);
    if (parent === "none") return ROOT_CONTEXT;
    const scope = this.scopes.getStore();
    // Work that outlives its span, such as a watch or a loop, is not part of the span.
    return scope?.open === true ? scope.context : ROOT_CONTEXT;
  }

  private linksTo(headers: Headers): Link[] {
    const context = trace.getSpanContext(this.extracted(headers));
    return context === undefined ? [] : [{ context }];
  }

  private extracted(headers: Headers): Context {
    return this.propagator.extract(ROOT_CONTEXT, headers, HEADER_GETTER);
  }
}
