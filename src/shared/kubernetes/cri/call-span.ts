// Spans of CRI calls: one span for each call, with the name of its rpc. The runtime gets the context in the metadata,
// as from upstream's kubelet.
// Invariant: a call without tracing sends no extra metadata.

import { Metadata } from "@grpc/grpc-js";
import { errorCode } from "../../base/errors/error-code.js";
import { tracer, traced, type OpenSpan, type SpanSettings } from "../../telemetry/tracing/tracing.js";
import { codeName, CriError } from "./errors.js";

/** @param path "/runtime.v1.RuntimeService/RunPodSandbox" */
export function tracedCall<T>(path: string, send: (metadata: Metadata) => Promise<T>): Promise<T> {
  return traced(
    path.slice(1),
    () => settingsOf(path),
    async (span) => {
      const reply = await send(metadataOf(span)).catch((error: unknown) => {
        span?.set({ "rpc.response.status_code": statusOf(error) });
        throw error;
      });
      span?.set({ "rpc.response.status_code": "OK" });
      return reply;
    },
  );
}

/** For a stream, whose reader ends the span. */
export function streamSpan(path: string): OpenSpan | undefined {
  return tracer()?.start(path.slice(1), settingsOf(path));
}

export function metadataOf(span: OpenSpan | undefined): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(span?.headers() ?? {})) metadata.set(name, value);
  return metadata;
}

function settingsOf(path: string): SpanSettings {
  return { kind: "client", attributes: { "rpc.method": path.slice(1), "rpc.system.name": "grpc" } };
}

function statusOf(error: unknown): string {
  if (error instanceof CriError) return error.code;
  if (!(error instanceof Error && "code" in error && typeof error.code === "number"))
    return errorCode(error) ?? "UNKNOWN";
  return codeName(error.code);
}
