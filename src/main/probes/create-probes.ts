// The node's probes, put together from its parts.
import { join } from "node:path";
import type { Clock } from "../../shared/clock/clock.js";
import { moduleLogger, type Logger } from "../../shared/log/logger.js";
import type { ThreadRegistry } from "../../shared/metrics/thread-registry.js";
import { threadMetrics } from "../../shared/metrics/threads.js";
import type { EventRecorder } from "../model/event-recorder.js";
import { ProbeCheckpoint } from "./checkpoint.js";
import { ProbeManager } from "./probe-manager.js";
import { Verdicts } from "./verdicts.js";
import type { ProberPort } from "../model/prober-port.js";

export interface ProbesDeps {
  rootDir: string;
  nodeIPs: () => readonly string[];
  prober: ProberPort;
  events: EventRecorder;
  registry: ThreadRegistry;
  clock: Clock;
  log: Logger;
  onResult(uid: string): void;
}

export function createProbes({ rootDir, registry, log, ...deps }: ProbesDeps): ProbeManager {
  const results = new Verdicts();
  const path = join(rootDir, "nodelet", "probes", "results.json");
  const stale = threadMetrics(registry).stale;
  return new ProbeManager({
    ...deps,
    results,
    checkpoint: new ProbeCheckpoint(path, results, deps.clock, moduleLogger(log, "probes")),
    onStale: () => stale.inc({ thread: "prober", kind: "probe-result" }),
  });
}
