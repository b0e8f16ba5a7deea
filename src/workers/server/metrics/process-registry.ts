// Figures of the whole process. Every page reads them itself, so they are right while main or the other server's thread
// hangs; no thread gives them to another, because the values of equal metrics are added.

import type { ThreadSnapshot } from "../../../shared/base/queue/board.js";
import type { ServerInit, ServerThreadName } from "../../../shared/contracts/server.js";
import { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";
import { boardMetrics } from "./board-metrics.js";
import { processMetrics } from "./process-metrics.js";
import { registerZeroMetrics, statsProvider } from "./zero-metrics.js";

export interface ProcessRegistryDeps {
  thread: ServerThreadName;
  init: Pick<ServerInit, "stats">;
  /** The last snapshot of each thread. */
  threads: () => readonly ThreadSnapshot[];
}

export function processRegistry({ thread, init, threads }: ProcessRegistryDeps): ThreadRegistry {
  const registry = new ThreadRegistry(thread);
  processMetrics(registry);
  registerZeroMetrics(registry);
  boardMetrics(registry, threads);
  statsProvider(registry, init.stats.podAndContainerStatsFromCRI ? "cri" : "cadvisor");
  return registry;
}
