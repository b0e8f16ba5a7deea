// Sends batches of spans by OTLP over gRPC, without TLS, as upstream does. Connects with the first batch.

import { credentials } from "@grpc/grpc-js";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-grpc";
import type { SpanExporter } from "@opentelemetry/sdk-trace";

/** One batch may take this long, its repetitions included. */
const TIMEOUT_MS = 10_000;
/** Batches under way at once; beyond it a batch is dropped. */
const CONCURRENCY = 2;

/** @param target "host:port" or "unix:///path" */
export function otlpExporter(target: string): SpanExporter {
  return new OTLPTraceExporter({
    // With the scheme http the library would drop port 80, and gRPC would take 443.
    url: target.startsWith("unix:") ? target : `dns://${target}`,
    credentials: credentials.createInsecure(),
    timeoutMillis: TIMEOUT_MS,
    concurrencyLimit: CONCURRENCY,
  });
}
