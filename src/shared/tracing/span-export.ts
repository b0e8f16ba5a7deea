// An exporter that its owner can abandon: batches under way and later ones fail at once.
// Without it the batches of a full queue would keep the thread alive for their whole timeouts after its end.
import { ExportResultCode, type ExportResult } from "@opentelemetry/core";
import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace";
import type { DiagLogger } from "@opentelemetry/api";
import type { Clock } from "../clock/clock.js";
import { messageOf } from "../errors/thrown.js";
import type { Logger } from "../log/logger.js";

type Done = (result: ExportResult) => void;

const ABANDONED: ExportResult = {
  code: ExportResultCode.FAILED,
  error: new Error("the thread exited before the collector responded"),
};

export class AbandonableExporter implements SpanExporter {
  private readonly underWay = new Set<Done>();
  private abandoned = false;

  constructor(private readonly exporter: SpanExporter) {}

  export(spans: ReadableSpan[], done: Done): void {
    if (this.abandoned) {
      done(ABANDONED);
      return;
    }
    this.underWay.add(done);
    this.exporter.export(spans, (result) => {
      if (this.underWay.delete(done)) done(result);
    });
  }

  /** From now on no batch waits for the collector. */
  abandon(): void {
    this.abandoned = true;
    for (const done of this.underWay) done(ABANDONED);
    this.underWay.clear();
  }

  async shutdown(): Promise<void> {
    if (!this.abandoned) await this.exporter.shutdown();
  }

  async forceFlush(): Promise<void> {
    if (!this.abandoned) await this.exporter.forceFlush?.();
  }
}

// Log lines for spans that do not reach the collector. The first failure is logged, then at most one line a minute with the number since.

const QUIET_MS = 60_000;

export class ExportProblems {
  private silentUntil = -Infinity;
  private unreported = 0;

  constructor(
    private readonly target: string,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /** Takes the warnings of the OpenTelemetry libraries, dropped spans among them. */
  readonly diagnostics: DiagLogger = {
    error: (message) => this.failed(message),
    warn: (message) => this.failed(message),
    info: () => undefined,
    debug: () => undefined,
    verbose: () => undefined,
  };

  failed(problem: unknown): void {
    this.unreported += 1;
    const now = this.clock.monotonic();
    if (now < this.silentUntil) return;
    this.silentUntil = now + QUIET_MS;
    const times = this.unreported;
    this.unreported = 0;
    this.log.warn(
      { endpoint: this.target, failures: times },
      `traces are lost: the export to ${this.target} failed: ${textOf(problem)}`,
    );
  }
}

/** OpenTelemetry's own handler hands errors over as JSON or as they are. */
function textOf(problem: unknown): string {
  return messageOf(problem).slice(0, 1024);
}
