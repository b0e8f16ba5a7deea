// What the kubelet's HTTP server shows.
import type { ConfigView, Violation } from "./rule.js";
import { needsGate, quote } from "./check.js";

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
      message: `${quote(shown)} is not ${PREVIOUS_RELEASE}, the only release whose hidden metrics can be shown; leave it empty otherwise`,
    };
  }
}
