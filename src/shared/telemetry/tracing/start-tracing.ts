// Creates the tracer of this thread. Loads OpenTelemetry, and nothing of it before.

import type { Clock } from "../../base/clock/clock.js";
import type { Logger } from "../log/logger.js";
import { type TracingConfig } from "./tracing-config.js";
import { installTracer } from "./tracing.js";

export interface RunningTracing {
  /** Sends the last spans, for a second at most. */
  stop(): Promise<void>;
}

export async function startTracing(config: TracingConfig, clock: Clock, log: Logger): Promise<RunningTracing> {
  const [{ OpenTelemetryTracer }, { otlpExporter }] = await Promise.all([
    import("./otel.js"),
    import("./otlp-exporter.js"),
  ]);
  const tracer = new OpenTelemetryTracer({ config, exporter: otlpExporter(config.target), clock, log });
  installTracer(tracer);
  return {
    stop: async () => {
      installTracer(undefined);
      await tracer.stop();
    },
  };
}
