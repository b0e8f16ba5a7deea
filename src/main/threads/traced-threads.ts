// Which threads trace. Without a sampling rate only a caller's request begins a sampled trace. Only the servers'
// threads have callers, so the others load nothing.

import type { TracingConfig } from "../../shared/telemetry/tracing/tracing-config.js";
import type { WorkerName } from "./thread-table.js";

const WITH_CALLERS: ReadonlySet<string> = new Set<WorkerName>(["server", "secure-server"]);

/** undefined: the thread does not trace. */
export function tracesIn(thread: string, tracing: TracingConfig | undefined): TracingConfig | undefined {
  return tracing !== undefined && (tracing.samplingRatePerMillion > 0 || WITH_CALLERS.has(thread))
    ? tracing
    : undefined;
}
