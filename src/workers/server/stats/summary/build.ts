// Builds the Summary from one reading of the cgroups and from the known figures of disks and networks.

import { omitUndefined } from "../../../../shared/base/objects/omit-undefined.js";
import type { PodUid } from "../../../../shared/kubernetes/identifiers.js";
import type { CgroupPressure } from "../../../../shared/node/stats/cgroup-figures.js";
import { partOf, type FsFigures, type PodDisk, type VolumeFigures } from "../../../../shared/node/stats/fs-figures.js";
import type { ProcessLimit } from "../../../../shared/node/stats/machine.js";
import type { NetworkFigures } from "../networks.js";
import { shownPods, type ContainerReading, type NodeReadings, type PodReading, type Reading } from "../readings.js";
import {
  cpuStats,
  fsStats,
  ioStats,
  memoryStats,
  networkStats,
  swapStats,
  timeText,
  networkFromRuntime,
} from "./figures.js";
import type { ContainerStats, FsStats, NetworkStats, NodeStats, PodStats, Summary, VolumeStats } from "./types.js";

/** The input of a summary of CPU and memory alone. */
export interface CoreInputs {
  nodeName: string;
  /** Milliseconds since the epoch. */
  bootedAt: number;
  machineMemory: number;
  swapFree: number;
  readings: NodeReadings;
  pressure: (path: string) => CgroupPressure;
  /** Milliseconds since the epoch. */
  madeAt: (path: string) => number | undefined;
}

/** Everything else: each part is absent when it is not known. */
export interface WholeInputs {
  network: (pod: PodReading | "node") => NetworkFigures | undefined;
  fs: FsFigures | undefined;
  imageFs: FsFigures | undefined;
  containerFs: FsFigures | undefined;
  limit: ProcessLimit & { at: number };
  rootfs: (containerId: string) => FsFigures | undefined;
  disk: (podUid: PodUid) => PodDisk | undefined;
  processes: (path: string) => number;
}

export function buildSummary(core: CoreInputs, whole?: WholeInputs): Summary {
  return {
    node: nodeStats(core, whole),
    pods: shownPods(core.readings).map((pod) => podStats(core, pod, whole)),
  };
}

function nodeStats(core: CoreInputs, whole: WholeInputs | undefined): NodeStats {
  const { root, system } = core.readings;
  const network = whole?.network("node");
  const pressure = core.pressure("/");
  return omitUndefined<NodeStats>({
    nodeName: core.nodeName,
    systemContainers: system.map(({ cgroup, reading }) => cgroupStats(core, cgroup.name, reading, whole !== undefined)),
    startTime: timeText(core.bootedAt),
    cpu: cpuStats(root, pressure.cpu),
    memory: memoryStats(root, pressure.memory, core.machineMemory),
    io: whole === undefined ? undefined : ioStats(root, pressure),
    network: network === undefined ? undefined : networkStats(network),
    fs: fsStats(whole?.fs),
    runtime: runtimeStats(whole),
    rlimit: whole === undefined ? undefined : limitStats(whole.limit),
    swap: { time: timeText(root.at), swapAvailableBytes: core.swapFree, swapUsageBytes: root.memory?.swap ?? 0 },
  });
}

function runtimeStats(whole: WholeInputs | undefined): NodeStats["runtime"] | undefined {
  if (whole?.imageFs === undefined && whole?.containerFs === undefined) return undefined;
  return omitUndefined({ imageFs: fsStats(whole.imageFs), containerFs: fsStats(whole.containerFs) });
}

function limitStats({ at, max, current }: WholeInputs["limit"]): NodeStats["rlimit"] {
  return omitUndefined({ time: timeText(at), maxpid: max, curproc: current });
}

function cgroupStats(core: CoreInputs, name: string, reading: Reading, whole: boolean): ContainerStats {
  return omitUndefined<ContainerStats>({
    name,
    startTime: timeText(core.madeAt(reading.path) ?? core.bootedAt),
    ...usage(core, reading, whole),
    swap: swapStats(reading),
  });
}

function podStats(core: CoreInputs, pod: PodReading, whole: WholeInputs | undefined): PodStats {
  const { name, namespace, uid } = pod.place.pod.metadata;
  const volumes = whole?.disk(uid)?.volumes;
  return omitUndefined<PodStats>({
    podRef: { name, namespace, uid },
    startTime: pod.place.pod.status?.startTime ?? timeText(pod.reading.at),
    containers: pod.containers.map((container) => containerStats(core, uid, container, whole)),
    ...usage(core, pod.reading, whole !== undefined),
    network: whole === undefined ? undefined : podNetwork(pod, whole),
    volume: volumes === undefined || volumes.length === 0 ? undefined : volumes.map(volumeStats),
    "ephemeral-storage": whole === undefined ? undefined : ephemeralStats(pod, whole),
    process_stats: whole === undefined ? undefined : podProcesses(pod, whole),
    swap: swapStats(pod.reading),
  });
}

function containerStats(
  core: CoreInputs,
  podUid: PodUid,
  { place, reading }: ContainerReading,
  whole: WholeInputs | undefined,
): ContainerStats {
  return omitUndefined<ContainerStats>({
    name: place.name,
    startTime: timeText(place.startedAt ?? reading.at),
    ...usage(core, reading, whole !== undefined),
    rootfs: fsStats(whole?.rootfs(place.id)),
    logs: fsStats(whole === undefined ? undefined : logsOf(podUid, place.name, whole)),
    swap: swapStats(reading),
  });
}

function podNetwork(pod: PodReading, whole: WholeInputs): NetworkStats | undefined {
  if (pod.fromRuntime !== undefined)
    return pod.fromRuntime.network === undefined ? undefined : networkFromRuntime(pod.fromRuntime.network);
  const network = whole.network(pod);
  return network === undefined ? undefined : networkStats(network);
}

function podProcesses({ fromRuntime, containers }: PodReading, whole: WholeInputs): PodStats["process_stats"] {
  if (fromRuntime !== undefined)
    return fromRuntime.processes === undefined ? undefined : { process_count: fromRuntime.processes };
  return { process_count: containers.reduce((sum, { reading }) => sum + whole.processes(reading.path), 0) };
}

function logsOf(podUid: PodUid, container: string, { fs, disk }: WholeInputs): FsFigures | undefined {
  const measured = disk(podUid);
  const logs = measured?.logs.get(container);
  return measured === undefined || logs === undefined ? undefined : partOf(fs, measured.at, logs.bytes, logs.inodes);
}

/** All that the pod has on the node's own file system. */
function ephemeralStats({ place, containers }: PodReading, whole: WholeInputs): FsStats | undefined {
  if (whole.fs === undefined) return undefined;
  const { uid } = place.pod.metadata;
  const local = whole.disk(uid)?.local;
  const written = containers.flatMap(({ place: { id, name } }) => [whole.rootfs(id), logsOf(uid, name, whole)]);
  const sum = (of: "usedBytes" | "inodesUsed"): number => written.reduce((total, fs) => total + (fs?.[of] ?? 0), 0);
  const bytes = sum("usedBytes") + (local?.bytes ?? 0);
  return fsStats(partOf(whole.fs, whole.fs.at, bytes, sum("inodesUsed") + (local?.inodes ?? 0)));
}

function volumeStats({ name, pvcRef, abnormal, ...fs }: VolumeFigures): VolumeStats {
  const volumeHealthStats = abnormal === undefined ? undefined : { abnormal };
  return omitUndefined<VolumeStats>({ ...fsStats(fs), name, pvcRef, volumeHealthStats });
}

function usage(
  core: CoreInputs,
  reading: Reading,
  io: boolean,
): Optional<Pick<ContainerStats, "cpu" | "memory" | "io">> {
  const pressure: Partial<CgroupPressure> = reading.pressure ?? core.pressure(reading.path);
  return {
    cpu: cpuStats(reading, pressure.cpu),
    memory: memoryStats(reading, pressure.memory),
    io: io ? ioStats(reading, pressure) : undefined,
  };
}

type Optional<T> = { [K in keyof T]?: T[K] | undefined };
