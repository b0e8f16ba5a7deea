// The runtime's figures as readings, like those of cgroups. As upstream, a container's missing value counts as zero,
// and a pod's missing part is absent. Pods and containers without a name are not shown.

import { omitUndefined } from "../../../../shared/base/objects/omit-undefined.js";
import type { Pod } from "../../../../shared/kubernetes/api/pod.js";
import type {
  ContainerStats,
  CpuUsage,
  IoUsage,
  MemoryUsage,
  NetworkInterfaceUsage,
  NetworkUsage,
  PodSandboxStats,
  PsiStats,
  SwapUsage,
  UInt64Value,
} from "../../../../shared/kubernetes/cri/gen/runtime.v1.js";
import { type PodUid, podUid } from "../../../../shared/kubernetes/identifiers.js";
import type {
  CgroupPressure,
  MemoryFigures,
  Pressure,
  PressureData,
} from "../../../../shared/node/stats/cgroup-figures.js";
import { runningContainers } from "../../../../shared/node/stats/pod-cgroups.js";
import type { CpuRates } from "../cpu-rates.js";
import type { ContainerReading, PodReading, Reading, RuntimeInterface, RuntimeNetwork } from "../readings.js";

const NANOS_PER_MILLI = 1_000_000n;

interface Usage {
  cpu: CpuUsage | undefined;
  memory: MemoryUsage | undefined;
  swap?: SwapUsage | undefined;
  io: IoUsage | undefined;
}

/** @param now milliseconds since the epoch @param rates of containers whose rate the runtime does not report */
export function criPodReadings(
  stats: readonly PodSandboxStats[],
  pods: Iterable<Pod>,
  rates: CpuRates,
  now: number,
): PodReading[] {
  const byUid = new Map<PodUid, PodSandboxStats>();
  for (const one of stats) {
    const uid = podUid(one.attributes?.metadata?.uid ?? "");
    if (uid === "" || one.linux === undefined) continue;
    const other = byUid.get(uid);
    // Of two sandboxes the one in use.
    if (other === undefined || one.linux.containers.length > (other.linux?.containers.length ?? 0)) byUid.set(uid, one);
  }
  const readings: PodReading[] = [];
  for (const pod of pods) {
    const linux = byUid.get(pod.metadata.uid)?.linux;
    if (linux === undefined) continue;
    const containers = containersOf(pod, linux.containers, rates, now);
    const reading = readingOf(linux, undefined, now);
    const swap = containers.reduce((sum, { reading: { memory } }) => sum + (memory?.swap ?? 0), 0);
    const limits = containers.map(({ reading: { memory } }) => memory?.swapLimit);
    const swapLimit = limits.some((limit) => limit !== undefined)
      ? { swapLimit: limits.reduce((sum: number, limit) => sum + (limit ?? 0), 0) }
      : {};
    const network = networkOf(linux.network);
    const processes = linux.process?.processCount;
    readings.push({
      place: { pod, path: "", containers: containers.map(({ place }) => place) },
      reading:
        reading.memory === undefined ? reading : { ...reading, memory: { ...reading.memory, swap, ...swapLimit } },
      containers,
      fromRuntime: {
        network,
        processes: processes === undefined ? undefined : numberOf(processes),
      },
    });
  }
  return readings;
}

function containersOf(pod: Pod, stats: readonly ContainerStats[], rates: CpuRates, now: number): ContainerReading[] {
  const byId = new Map(stats.map((one) => [one.attributes?.id ?? "", one]));
  return [...runningContainers(pod)].flatMap(([id, container]) => {
    const one = byId.get(id);
    if (one === undefined) return [];
    const nothing = { timestamp: BigInt(now) * NANOS_PER_MILLI };
    const cpu = one.cpu ?? { ...nothing, usageCoreNanoSeconds: undefined, usageNanoCores: undefined, psi: undefined };
    const reading = readingOf({ ...one, cpu, memory: one.memory ?? NO_MEMORY }, { id, rates }, now);
    return [{ place: { ...container, id, path: "" }, reading }];
  });
}

const NO_MEMORY: MemoryUsage = {
  timestamp: 0n,
  workingSetBytes: undefined,
  availableBytes: undefined,
  usageBytes: undefined,
  rssBytes: undefined,
  pageFaults: undefined,
  majorPageFaults: undefined,
  psi: undefined,
};

function readingOf(
  { cpu, memory, swap, io }: Usage,
  rated: { id: string; rates: CpuRates } | undefined,
  now: number,
): Reading {
  const at = cpu === undefined || cpu.timestamp === 0n ? now : Number(cpu.timestamp / NANOS_PER_MILLI);
  const usage = numberOf(cpu?.usageCoreNanoSeconds);
  const rate =
    cpu?.usageNanoCores === undefined ? rated?.rates.rate(rated.id, at, usage) : numberOf(cpu.usageNanoCores);
  return {
    path: "",
    at,
    cpu: cpu === undefined ? undefined : { usage, rate },
    memory: memory === undefined ? undefined : memoryOf(memory, swap),
    pressure: pressureOf({ cpu: cpu?.psi, memory: memory?.psi, io: io?.psi }),
  };
}

function memoryOf(memory: MemoryUsage, swap: SwapUsage | undefined): MemoryFigures {
  const workingSet = numberOf(memory.workingSetBytes);
  const used = numberOf(swap?.swapUsageBytes);
  return {
    usage: numberOf(memory.usageBytes),
    workingSet,
    rss: numberOf(memory.rssBytes),
    cache: 0,
    mapped: 0,
    activeFile: 0,
    inactiveFile: 0,
    pageFaults: numberOf(memory.pageFaults),
    majorPageFaults: numberOf(memory.majorPageFaults),
    swap: used,
    limit: memory.availableBytes === undefined ? undefined : workingSet + numberOf(memory.availableBytes),
    swapLimit: swap?.swapAvailableBytes === undefined ? undefined : used + numberOf(swap.swapAvailableBytes),
  };
}

function pressureOf(pressure: Record<keyof CgroupPressure, PsiStats | undefined>): Partial<CgroupPressure> {
  const parts = Object.entries(pressure).flatMap(([name, psi]) =>
    psi === undefined ? [] : [[name, stallsOf(psi)] as const],
  );
  return Object.fromEntries(parts);
}

function stallsOf({ Full, Some }: PsiStats): Pressure {
  const data = (of: PsiStats["Full"]): PressureData => ({
    total: Number(of?.Total ?? 0n),
    avg10: of?.Avg10 ?? 0,
    avg60: of?.Avg60 ?? 0,
    avg300: of?.Avg300 ?? 0,
  });
  return { full: data(Full), some: data(Some) };
}

function networkOf(network: NetworkUsage | undefined): RuntimeNetwork | undefined {
  if (network === undefined) return undefined;
  const main = interfaceOf(network.defaultInterface);
  return {
    at: Number(network.timestamp / NANOS_PER_MILLI),
    main,
    interfaces: network.interfaces.flatMap((one) => interfaceOf(one) ?? []),
  };
}

function interfaceOf(one: NetworkInterfaceUsage | undefined): RuntimeInterface | undefined {
  if (one === undefined) return undefined;
  const { name, rxBytes, rxErrors, txBytes, txErrors } = one;
  return omitUndefined<RuntimeInterface>({
    name,
    rxBytes: rxBytes === undefined ? undefined : numberOf(rxBytes),
    rxErrors: rxErrors === undefined ? undefined : numberOf(rxErrors),
    txBytes: txBytes === undefined ? undefined : numberOf(txBytes),
    txErrors: txErrors === undefined ? undefined : numberOf(txErrors),
  });
}

function numberOf(value: UInt64Value | undefined): number {
  return Number(value?.value ?? 0n);
}
