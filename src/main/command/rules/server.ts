// Rules of the HTTP server of the kubelet: ports, addresses, TLS, system logs and hidden metrics.

import { quoteStart } from "../../../shared/base/text/quote.js";
import { plainIP } from "../plain-ip.js";
import type { Violation } from "../violation.js";
import { needsGate, inRange } from "./check.js";
import type { ConfigView } from "./rule.js";

/** Metrics hidden in this release can be shown for one release more. */
const PREVIOUS_RELEASE = "1.35";

export function* server(config: ConfigView): Iterable<Violation> {
  if (config.get("enableSystemLogQuery") === true) {
    if (!config.gate("NodeLogQuery")) yield needsGate("enableSystemLogQuery", "NodeLogQuery");
    if (config.get("enableSystemLogHandler") === false) {
      yield {
        path: "enableSystemLogQuery",
        message: "requires enableSystemLogHandler: true; set it, or set this field to false",
      };
    }
  }
  const shown = config.get("showHiddenMetricsForVersion") ?? "";
  if (shown !== "" && shown !== PREVIOUS_RELEASE) {
    yield {
      path: "showHiddenMetricsForVersion",
      message: `${quoteStart(shown)} is not ${PREVIOUS_RELEASE}, the only release whose hidden metrics can be shown; leave it empty otherwise`,
    };
  }
}

// Addresses and ports.
export function* ports(config: ConfigView): Iterable<Violation> {
  yield* inRange(config, "port", 1, 65535, "port");
  for (const path of ["readOnlyPort", "healthzPort"] as const) {
    const value = config.get(path) ?? 0;
    if (value < 0 || value > 65535)
      yield { path, message: `${value} is not a port from 1 to 65535, or 0 to disable it` };
  }
  for (const path of ["address", "healthzBindAddress"] as const) {
    const value = config.get(path);
    if (value !== undefined && plainIP(value) === undefined) {
      yield {
        path,
        message: `${quoteStart(value)} is not an IP address; use 0.0.0.0 for all IPv4 addresses or :: for all addresses`,
      };
    }
  }
}
