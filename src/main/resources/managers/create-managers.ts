// Creates the resource managers that the node's settings need, and loads no code of others.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { lazily } from "../../../shared/base/turns/lazily.js";
import type { CriClient } from "../../../shared/kubernetes/cri/client.js";
import type { ObservedPod } from "../../../shared/kubernetes/cri/observed-pod.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";
import type { AgentFlags } from "../../command/agent-flags.js";
import type { EvictionSettings } from "../../command/views/eviction.js";
import type { ResourceSettings } from "../../command/views/resources.js";
import type { EventRecorder } from "../../model/event-recorder.js";
import type { ResourceManagers } from "../assignment/resource-manager.js";
import type { MachineReading } from "../topology/machine-topology.js";
import { topologyMetrics } from "../topology/metrics.js";
import { JoinedManagers, type ManagerSource } from "./joined-managers.js";

export type ManagerSettings = Pick<AgentFlags, "rootDir" | "allocatableIgnoresEviction"> &
  Pick<EvictionSettings, "evictionHard"> &
  ResourceSettings & {
    /** Memory of the machine, in bytes. */
    readonly memoryBytes: bigint;
  };

export interface ManagerDeps {
  cri: CriClient;
  /** The sandboxes and containers of each pod in the runtime, also those of an earlier kubelet process. */
  observed: () => Iterable<ObservedPod>;
  events: EventRecorder;
  registry: ThreadRegistry;
  clock: Clock;
  log: Logger;
  devices: ManagerSource;
  machine: MachineReading;
}

/** Reads the machine's topology at the first call. */
export function machineReading(): MachineReading {
  return lazily(async () => (await import("../topology/read-machine.js")).readMachineTopology());
}

/** In upstream's order: devices, CPUs, memory. */
export function createManagers(settings: ManagerSettings, deps: ManagerDeps): ResourceManagers {
  const { registry, clock, devices, machine } = deps;
  const { cpuManagerPolicy, memoryManagerPolicy, topologyManagerPolicy } = settings;
  const sources: ManagerSource[] = [devices];
  if (cpuManagerPolicy === "static") {
    sources.push({
      kind: "cpu",
      make: async () => {
        const { createCpuManager } = await import("../cpu-manager/create-cpu-manager.js");
        return await createCpuManager(settings, deps, await machine());
      },
    });
  }
  if (memoryManagerPolicy === "Static") {
    sources.push({
      kind: "memory",
      make: async () => {
        const [{ createMemoryManager }, found] = await Promise.all([import("../memory-manager/create.js"), machine()]);
        return createMemoryManager(settings, found, deps);
      },
    });
  }
  return new JoinedManagers({
    sources,
    podLevelResourceManagers: settings.podLevelResourceManagers,
    metrics: topologyMetrics(registry),
    clock,
    topology:
      topologyManagerPolicy !== "none"
        ? async () => {
            const [{ createTopologyPolicy }, found] = await Promise.all([
              import("../topology/create-policy.js"),
              machine(),
            ]);
            return createTopologyPolicy({ ...settings, topologyManagerPolicy }, found);
          }
        : undefined,
  });
}
