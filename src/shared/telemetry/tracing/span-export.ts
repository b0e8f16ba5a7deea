// An exporter that its owner can abandon: batches under way and later ones fail at once.
// Without it the batches of a full queue would keep the thread alive for their whole timeouts after its end.

import { ExportResultCode, type ExportResult } from "@opentelemetry/core";
import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace";

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
