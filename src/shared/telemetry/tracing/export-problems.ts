// Log lines for spans that do not reach the collector. The first failure is logged, then at most one line a minute with
// the number since.

import type { DiagLogger } from "@opentelemetry/api";
import type { Clock } from "../../base/clock/clock.js";
import { messageOf } from "../../base/errors/thrown.js";
import type { Logger } from "../log/thread-log.js";

const QUIET_MS = 60000;

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
