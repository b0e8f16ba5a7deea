// Orderly shutdown of the node: how long pods get.

import { formatDuration } from "../duration.js";
import type { Violation } from "../violation.js";
import { needsGate } from "./check.js";
import type { ConfigView } from "./rule.js";

const TOTAL = "shutdownGracePeriod";
const CRITICAL = "shutdownGracePeriodCriticalPods";
const BY_PRIORITY = "shutdownGracePeriodByPodPriority";
const GATE = "GracefulNodeShutdown";
const PRIORITY_GATE = "GracefulNodeShutdownBasedOnPodPriority";

export function* shutdown(config: ConfigView): Iterable<Violation> {
  const total = config.get(TOTAL) ?? 0;
  const critical = config.get(CRITICAL) ?? 0;
  if (config.gate(GATE)) yield* periods(total, critical);
  else {
    if (total > 0) yield needsGate(TOTAL, GATE);
    if (critical > 0) yield needsGate(CRITICAL, GATE);
  }
  if ((config.get(BY_PRIORITY) ?? []).length === 0) return;
  if (!config.gate(PRIORITY_GATE)) yield needsGate(BY_PRIORITY, PRIORITY_GATE);
  else if (total > 0 || critical > 0) {
    yield {
      path: BY_PRIORITY,
      message: `cannot be combined with ${TOTAL} or ${CRITICAL}; keep either the list or the two periods`,
    };
  }
}

function* periods(total: number, critical: number): Iterable<Violation> {
  const named = [
    [TOTAL, total],
    [CRITICAL, critical],
  ] as const;
  for (const [path, ms] of named) {
    if (ms < 0 || (ms > 0 && ms < 1000)) {
      yield { path, message: `${formatDuration(ms)} is not 0 (off) or a duration of at least 1s` };
    }
  }
  if (critical > total) {
    yield {
      path: CRITICAL,
      message: `${formatDuration(critical)} is longer than ${TOTAL}, which is ${formatDuration(total)} and includes it`,
    };
  }
}
