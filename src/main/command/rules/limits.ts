// Rules of single fields: rates, counts, scores, the crash loop back-off, tracing, the container runtime and user ids.

import { quoteStart } from "../../../shared/base/text/quote.js";
import { formatDuration } from "../duration.js";
import type { Violation } from "../violation.js";
import { inRange, notNegative, needsGate } from "./check.js";
import type { ConfigView } from "./rule.js";
import { parseTracingEndpoint, TRACING_SCHEMES } from "./tracing-endpoint.js";

const NOT_NEGATIVE = [
  "eventBurst",
  "eventRecordQPS",
  "kubeAPIBurst",
  "kubeAPIQPS",
  "registryBurst",
  "registryPullQPS",
  "maxOpenFiles",
  "maxPods",
  "podsPerCore",
] as const;

export function* limits(config: ConfigView): Iterable<Violation> {
  for (const path of NOT_NEGATIVE) yield* notNegative(config, path);
  yield* inRange(config, "nodeLeaseDurationSeconds", 1);
  yield* inRange(config, "nodeStatusMaxImages", -1);
  yield* inRange(config, "oomScoreAdj", -1000, 1000);
  yield* inRange(config, "iptablesMasqueradeBit", 0, 31, "bit");
  yield* inRange(config, "iptablesDropBit", 0, 31, "bit");
}

// The maximum crash loop back-off.
const PATH = "crashLoopBackOff.maxContainerRestartPeriod";
const GATE = "KubeletCrashLoopBackOffMax";

export function* crashLoop(config: ConfigView): Iterable<Violation> {
  const period = config.get(PATH);
  if (!config.gate(GATE)) {
    if (period !== undefined) yield needsGate(PATH, GATE);
  } else if (period === undefined) {
    yield { path: PATH, message: `is empty while ${GATE} is on; set a duration from 1s to 300s` };
  } else {
    const whole = Math.trunc(period);
    if (whole < 1000 || whole > 300_000) {
      yield { path: PATH, message: `${formatDuration(period)} is not a duration from 1s to 300s` };
    }
  }
}

// Export of traces.
export function* tracing(config: ConfigView): Iterable<Violation> {
  yield* inRange(config, "tracing.samplingRatePerMillion", 0, 1_000_000);
  const endpoint = config.get("tracing.endpoint") ?? "";
  if (endpoint !== "" && parseTracingEndpoint(endpoint) === undefined) {
    yield {
      path: "tracing.endpoint",
      message: `${quoteStart(endpoint)} is not host:port or a URL with the scheme ${TRACING_SCHEMES.join(", ")}`,
    };
  }
}
