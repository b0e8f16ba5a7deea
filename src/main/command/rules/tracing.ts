// Traces of the kubelet's work.
import { parseTracingEndpoint, TRACING_SCHEMES } from "./tracing-endpoint.js";
import type { ConfigView, Violation } from "./rule.js";
import { inRange, quote } from "./check.js";

export function* tracing(config: ConfigView): Iterable<Violation> {
  yield* inRange(config, "tracing.samplingRatePerMillion", 0, 1_000_000);
  const endpoint = config.get("tracing.endpoint") ?? "";
  if (endpoint !== "" && parseTracingEndpoint(endpoint) === undefined) {
    yield {
      path: "tracing.endpoint",
      message: `${quote(endpoint)} is not host:port or a URL with the scheme ${TRACING_SCHEMES.join(", ")}`,
    };
  }
}
