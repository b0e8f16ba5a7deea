// Spans of CRI calls: each is one span, named by its rpc, and the runtime gets its context in the headers, as from upstream's kubelet.
// Invariant: a call without tracing sends no extra headers.
import { errorCode } from "../errors/thrown.js";
import { tracer, traced, type OpenSpan, type SpanSettings } from "../tracing/tracing.js";
import { CriError } from "./errors.js";
import { CallFailedError } from "./transport/status.js";

/** @param path "/runtime.v1.RuntimeService/RunPodSandbox" */
export function tracedCall<T>(
  path: string,
  send: (headers: Readonly<Record<string, string>>) => Promise<T>,
): Promise<T> {
  return traced(
    path.slice(1),
    () => settingsOf(path),
    async (span) => {
      const reply = await send(headersOf(span)).catch((error: unknown) => {
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

export function headersOf(span: OpenSpan | undefined): Readonly<Record<string, string>> {
  return span?.headers() ?? {};
}

function settingsOf(path: string): SpanSettings {
  return { kind: "client", attributes: { "rpc.method": path.slice(1), "rpc.system.name": "grpc" } };
}

function statusOf(error: unknown): string {
  if (error instanceof CriError || error instanceof CallFailedError) return error.code;
  return errorCode(error) ?? "UNKNOWN";
}
