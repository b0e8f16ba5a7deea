// Endpoint and sampling rate of traces.

import { parseTracingEndpoint } from "../rules/tracing-endpoint.js";
import type { ConfigReader } from "./reader.js";

/** OpenTelemetry's port for OTLP over gRPC. */
const DEFAULT_TARGET = "localhost:4317";

export interface TracingSettings {
  /** In gRPC's form. */
  readonly target: string;
  readonly samplingRatePerMillion: number;
}

/** undefined: off. */
export function tracingSettings(read: ConfigReader): TracingSettings | undefined {
  const { config } = read;
  const isSet = config.isSet("tracing.endpoint") || config.isSet("tracing.samplingRatePerMillion");
  const target = targetOf(read.text("tracing.endpoint"));
  if (!isSet || target === undefined || !read.gate("KubeletTracing")) return undefined;
  return { target, samplingRatePerMillion: read.number("tracing.samplingRatePerMillion") };
}

/**
 * In gRPC's form; undefined for an abstract socket, which Node's gRPC library cannot reach (rules/warnings.ts reports
 * it).
 */
function targetOf(endpoint: string): string | undefined {
  const parsed = endpoint === "" ? undefined : parseTracingEndpoint(endpoint);
  switch (parsed?.scheme) {
    case undefined:
      return DEFAULT_TARGET;
    case "dns":
      // "dns:///host:port" and "dns://resolver/host:port" are gRPC's long forms.
      return parsed.target.slice(parsed.target.lastIndexOf("/") + 1);
    case "unix":
      return `unix://${parsed.target}`;
    case "unix-abstract":
      return undefined;
  }
}
