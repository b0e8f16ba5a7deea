// The memory manager of this node; loaded only with policy Static.
import type { Clock } from "../../../shared/clock/clock.js";
import { moduleLogger, type Logger } from "../../../shared/log/logger.js";
import { memoryManagerMetrics } from "./metrics.js";
import type { ThreadRegistry } from "../../../shared/metrics/thread-registry.js";
import type { MachineTopology } from "../topology/machine-topology.js";
import { MemoryManager, type MemoryManagerSettings } from "./memory-manager.js";

/** @throws MemoryReservationError */
export function createMemoryManager(
  settings: MemoryManagerSettings,
  machine: MachineTopology,
  { registry, clock, log }: { registry: ThreadRegistry; clock: Clock; log: Logger },
): MemoryManager {
  return new MemoryManager(settings, machine, {
    metrics: memoryManagerMetrics(registry),
    clock,
    log: moduleLogger(log, "memory-manager"),
  });
}
