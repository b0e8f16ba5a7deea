// The node's probes, put together from its parts.

import { join } from "path/posix";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { moduleLogger } from "../../../shared/telemetry/log/logger.js";
import type { Logger } from "../../../shared/telemetry/log/thread-log.js";
import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";
import { threadMetrics } from "../../../shared/telemetry/metrics/threads.js";
import type { EventRecorder } from "../../model/event-recorder.js";
import type { ProberPort } from "../../model/prober-port.js";
import { ProbeCheckpoint } from "./checkpoint.js";
import { ProbeKills } from "./probe-kills.js";
import { ProbeManager } from "./probe-manager.js";
import { Verdicts } from "./verdicts.js";

interface ProbesDeps {
  rootDir: string;
  /** Gate ChangeContainerStatusOnKubeletRestart: results of an earlier kubelet do not count. */
  forgetsResults: boolean;
  nodeIPs: () => readonly string[];
  prober: ProberPort;
  events: EventRecorder;
  registry: ThreadRegistry;
  clock: Clock;
  log: Logger;
}

export function createProbes(deps: ProbesDeps): ProbeManager {
  const { rootDir, forgetsResults, nodeIPs, prober, events, registry, clock } = deps;
  const log = moduleLogger(deps.log, "probes");
  const [results, kills] = [new Verdicts(), new ProbeKills()];
  const path = join(rootDir, "nodelet", "probes", "results.json");
  const stale = threadMetrics(registry).stale;
  return new ProbeManager({
    results,
    kills,
    forgetsResults,
    prober,
    events,
    nodeIPs,
    clock,
    checkpoint: new ProbeCheckpoint(path, results, kills, clock, log),
    onStale: () => stale.inc({ thread: "prober", kind: "probe-result" }),
  });
}
