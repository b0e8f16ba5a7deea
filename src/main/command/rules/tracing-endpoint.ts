// The endpoint of traces (OTLP over gRPC): "localhost:4317", "dns://…", "unix:///run/otel.sock",
// "unix-abstract:///name".

export const TRACING_SCHEMES = ["dns", "unix", "unix-abstract"] as const;

export interface TracingEndpoint {
  scheme: (typeof TRACING_SCHEMES)[number];
  /** The part after the scheme: host:port, or a socket's path or name. */
  target: string;
}

/** Undefined when the text is no URL or has another scheme. No "//" means dns. */
export function parseTracingEndpoint(text: string): TracingEndpoint | undefined {
  const full = text.includes("//") ? text : `dns://${text}`;
  if (!URL.canParse(full)) return undefined;
  const colon = full.indexOf(":");
  const scheme = TRACING_SCHEMES.find((known) => known === full.slice(0, colon).toLowerCase());
  return scheme === undefined ? undefined : { scheme, target: full.slice(colon + 1).replace(/^\/\//, "") };
}
