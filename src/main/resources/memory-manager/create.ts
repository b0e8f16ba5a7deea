// The memory manager of this node; loaded only with policy Static.

import type { Clock } from "../../../shared/base/clock/clock.js";
import type { ObservedPod } from "../../../shared/kubernetes/cri/observed-pod.js";
import { moduleLogger, type Logger } from "../../../shared/telemetry/log/logger.js";
import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";
import { runningPods } from "../../model/observed-containers.js";
import { podLevelMetrics } from "../assignment/pod-level.js";
import type { MachineTopology } from "../topology/machine-topology.js";
import { MemoryManager, type MemoryManagerSettings } from "./memory-manager.js";
import { memoryManagerMetrics } from "./metrics.js";

export interface MakeMemoryManagerDeps {
  /** Each pod as last observed in the runtime. */
  observed: () => Iterable<ObservedPod>;
  registry: ThreadRegistry;
  clock: Clock;
  log: Logger;
}

/** @throws OperatorError */
export function createMemoryManager(
  settings: MemoryManagerSettings,
  machine: MachineTopology,
  { observed, registry, clock, log }: MakeMemoryManagerDeps,
): MemoryManager {
  return new MemoryManager(settings, machine, {
    runningPods: () => runningPods(observed()),
    metrics: memoryManagerMetrics(registry),
    podLevelMetrics: podLevelMetrics(registry, "memory", settings),
    clock,
    log: moduleLogger(log, "memory-manager"),
  });
}
