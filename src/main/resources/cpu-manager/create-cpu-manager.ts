// Makes the CPU manager of policy static from the node's settings and the machine. Loaded only where that is the
// policy.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { parseCpuList } from "../../../shared/kubernetes/api/cpu-list.js";
import { parseQuantity } from "../../../shared/kubernetes/api/quantity.js";
import type { CriClient } from "../../../shared/kubernetes/cri/client.js";
import type { ObservedPod } from "../../../shared/kubernetes/cri/observed-pod.js";
import { moduleLogger, type Logger } from "../../../shared/telemetry/log/logger.js";
import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";
import { podLevelMetrics, podLevelMode, type PodLevelSettings } from "../assignment/pod-level.js";
import type { MachineTopology } from "../topology/machine-topology.js";
import { readMachineTopology } from "../topology/read-machine.js";
import { CpuTopology } from "./cpu-topology.js";
import { cpuManagerMetrics } from "./metrics.js";
import { checkOptions, staticOptions } from "./options.js";
import { reservedCpus } from "./reserved-cpus.js";
import { CpuStateFile } from "./state-file.js";
import { StaticCpuManager } from "./static-cpu-manager.js";

const NANOS_PER_MILLI = 1_000_000n;

/** The part of NodeSettings that the CPU manager reads; names are KubeletConfiguration's. */
export interface CpuManagerSettings extends PodLevelSettings {
  rootDir: string;
  cpuManagerPolicyOptions: Readonly<Record<string, string>>;
  cpuManagerReconcilePeriodMs: number;
  reservedSystemCPUs: string;
  kubeReserved: Readonly<Record<string, string>>;
  systemReserved: Readonly<Record<string, string>>;
  /** Gate DisableCPUQuotaWithExclusiveCPUs. */
  disableCPUQuotaWithExclusiveCPUs: boolean;
}

export interface CpuManagerDeps {
  cri: Pick<CriClient, "updateContainerResources">;
  /** Each pod as last observed in the runtime. */
  observed: () => Iterable<ObservedPod>;
  registry: ThreadRegistry;
  clock: Clock;
  log: Logger;
}

/** Rejects with OperatorError. Without a given machine, the real one is read. */
export async function createCpuManager(
  settings: CpuManagerSettings,
  { cri, observed, registry, clock, log }: CpuManagerDeps,
  machine?: MachineTopology,
): Promise<StaticCpuManager> {
  const topology = new CpuTopology(machine ?? (await readMachineTopology()));
  const options = staticOptions(settings.cpuManagerPolicyOptions, podLevelMode(settings));
  checkOptions(options, topology);
  const reserved = reservedCpus(topology, {
    // Validation has refused what can't be read.
    cpus: parseCpuList(settings.reservedSystemCPUs) ?? [],
    milliCpu: milliCpuOf(settings.kubeReserved) + milliCpuOf(settings.systemReserved),
  });
  const own = moduleLogger(log, "cpu-manager");
  return new StaticCpuManager({
    topology,
    options,
    reserved,
    cri,
    observed,
    clock,
    log: own,
    file: new CpuStateFile(settings.rootDir, clock, own),
    metrics: cpuManagerMetrics(registry),
    podLevelMetrics: podLevelMetrics(registry, "cpu", settings),
    periodMs: settings.cpuManagerReconcilePeriodMs,
    noQuotaForExclusive: settings.disableCPUQuotaWithExclusiveCPUs,
  });
}

function milliCpuOf(reserved: Readonly<Record<string, string>>): bigint {
  return (parseQuantity(reserved["cpu"] ?? 0).nanos + NANOS_PER_MILLI - 1n) / NANOS_PER_MILLI;
}
