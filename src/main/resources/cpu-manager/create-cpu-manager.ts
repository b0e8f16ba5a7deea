// Makes the CPU manager of policy static from the node's settings and the machine. Loaded only where that is the policy.
import { parseCpuList } from "../../../shared/api/cpu-list.js";
import { parseQuantity } from "../../../shared/api/quantity.js";
import type { Clock } from "../../../shared/clock/clock.js";
import type { CriClient } from "../../../shared/cri/client.js";
import type { ObservedPod } from "../../../shared/cri/observed-pod.js";
import { moduleLogger, type Logger } from "../../../shared/log/logger.js";
import { cpuManagerMetrics } from "./metrics.js";
import type { ThreadRegistry } from "../../../shared/metrics/thread-registry.js";
import type { MachineTopology } from "../topology/machine-topology.js";
import { readMachineTopology } from "../topology/read-machine.js";
import { CpuTopology } from "./cpu-topology.js";
import { checkOptions, staticOptions, type StaticOptions } from "./options.js";
import { reservedCpus } from "./reserved.js";
import { CpuStateFile } from "./state-file.js";
import { StaticCpuManager } from "./static-cpu-manager.js";

const NANOS_PER_MILLI = 1_000_000n;

/** Of NodeSettings; names are KubeletConfiguration's. */
export interface CpuManagerSettings {
  rootDir: string;
  cpuManagerPolicyOptions: Readonly<Record<string, string>>;
  cpuManagerReconcilePeriodMs: number;
  reservedSystemCPUs: string;
  kubeReserved: Readonly<Record<string, string>>;
  systemReserved: Readonly<Record<string, string>>;
  /** Gate DisableCPUQuotaWithExclusiveCPUs. */
  disableCPUQuotaWithExclusiveCPUs: boolean;
  /** Gate PodLevelResourceManagers. */
  podLevelResourceManagers: boolean;
  topologyManagerPolicy: string;
  topologyManagerScope: "container" | "pod";
}

export interface CpuManagerDeps {
  cri: () => Pick<CriClient, "updateContainerResources">;
  /** What the runtime has of each pod. */
  observed: () => Iterable<ObservedPod>;
  registry: ThreadRegistry;
  clock: Clock;
  log: Logger;
}

/** Rejects with CpuPolicyError or UnknownTopologyError. The machine is read where it is not given. */
export async function createCpuManager(
  settings: CpuManagerSettings,
  { cri, observed, registry, clock, log }: CpuManagerDeps,
  machine?: MachineTopology,
): Promise<StaticCpuManager> {
  const topology = new CpuTopology(machine ?? (await readMachineTopology()));
  const options = staticOptions(settings.cpuManagerPolicyOptions, podLevelOf(settings));
  checkOptions(options, topology);
  const reserved = reservedCpus(topology, {
    // Validation has refused what can't be read.
    cpus: parseCpuList(settings.reservedSystemCPUs) ?? [],
    milliCpu: milliCpuOf(settings.kubeReserved) + milliCpuOf(settings.systemReserved),
  });
  const own = moduleLogger(log, "cpu-manager");
  return new StaticCpuManager({
    ...{ topology, options, reserved, cri, observed, clock, log: own },
    file: new CpuStateFile(settings.rootDir, clock, own),
    metrics: cpuManagerMetrics(registry),
    periodMs: settings.cpuManagerReconcilePeriodMs,
    noQuotaForExclusive: settings.disableCPUQuotaWithExclusiveCPUs,
  });
}

/** Only a topology manager that looks at pods hands out CPUs to them. */
function podLevelOf(settings: CpuManagerSettings): StaticOptions["podLevel"] {
  if (!settings.podLevelResourceManagers) return "shared";
  return settings.topologyManagerPolicy !== "none" && settings.topologyManagerScope === "pod" ? "whole" : "containers";
}

function milliCpuOf(reserved: Readonly<Record<string, string>>): bigint {
  return (parseQuantity(reserved["cpu"] ?? 0).nanos + NANOS_PER_MILLI - 1n) / NANOS_PER_MILLI;
}
