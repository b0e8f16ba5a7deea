// The Summary out of one look at the cgroups and what is known of disks and networks.
import type { CgroupPressure, Pressure } from "../../../../shared/stats/cgroup-figures.js";
import type { InterfaceFigures } from "../net-dev.js";
import type { ProcessLimit } from "../../../../shared/stats/machine.js";
import type { ContainerReading, NodeReadings, PodReading, Reading } from "../readings.js";
import { cpuStats, fsStats, ioStats, memoryStats, networkStats, swapStats, timeText } from "./figures.js";
import type { ContainerStats, FsStats, NodeStats, PodStats, Summary, VolumeStats } from "./types.js";
import { partOf, type FsFigures, type PodDisk, type VolumeFigures } from "../../../../shared/stats/fs-figures.js";

/** What a summary of CPU and memory alone needs. */
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
  network: (pod: PodReading | "node") => readonly InterfaceFigures[] | undefined;
  fs: FsFigures | undefined;
  imageFs: FsFigures | undefined;
  containerFs: FsFigures | undefined;
  limit: ProcessLimit & { at: number };
  rootfs: (containerId: string) => FsFigures | undefined;
  logs: (podUid: string, container: string) => FsFigures | undefined;
  disk: (podUid: string) => PodDisk | undefined;
  processes: (path: string) => number;
}

export function buildSummary(core: CoreInputs, whole?: WholeInputs): Summary {
  return {
    node: nodeStats(core, whole),
    pods: core.readings.pods.map((pod) => podStats(core, pod, whole)),
  };
}

function nodeStats(core: CoreInputs, whole: WholeInputs | undefined): NodeStats {
  const { root, system } = core.readings;
  const network = whole?.network("node");
  const pressure = core.pressure("/");
  return present<NodeStats>({
    nodeName: core.nodeName,
    systemContainers: system.map(({ cgroup, reading }) => cgroupStats(core, cgroup.name, reading, whole !== undefined)),
    startTime: timeText(core.bootedAt),
    cpu: cpuStats(root, pressure.cpu),
    memory: memoryStats(root, pressure.memory, core.machineMemory),
    io: whole === undefined ? undefined : ioStats(root, pressure),
    network: network === undefined ? undefined : networkStats(root.at, network),
    fs: fsStats(whole?.fs),
    runtime: runtimeStats(whole),
    rlimit: whole === undefined ? undefined : limitStats(whole.limit),
    swap: { time: timeText(root.at), swapAvailableBytes: core.swapFree, swapUsageBytes: root.memory?.swap ?? 0 },
  });
}

function runtimeStats(whole: WholeInputs | undefined): NodeStats["runtime"] | undefined {
  if (whole?.imageFs === undefined && whole?.containerFs === undefined) return undefined;
  return present({ imageFs: fsStats(whole.imageFs), containerFs: fsStats(whole.containerFs) });
}

function limitStats({ at, max, current }: WholeInputs["limit"]): NodeStats["rlimit"] {
  return present({ time: timeText(at), maxpid: max, curproc: current });
}

function cgroupStats(core: CoreInputs, name: string, reading: Reading, whole: boolean): ContainerStats {
  const pressure = core.pressure(reading.path);
  return present<ContainerStats>({
    name,
    startTime: timeText(core.madeAt(reading.path) ?? core.bootedAt),
    ...usage(reading, pressure, whole),
    swap: swapStats(reading),
  });
}

function podStats(core: CoreInputs, pod: PodReading, whole: WholeInputs | undefined): PodStats {
  const { name, namespace, uid } = pod.place.pod.metadata;
  const network = whole?.network(pod);
  const volumes = whole?.disk(uid)?.volumes;
  return present<PodStats>({
    podRef: { name, namespace, uid },
    startTime: pod.place.pod.status?.startTime ?? timeText(pod.reading.at),
    containers: pod.containers.map((container) => containerStats(core, uid, container, whole)),
    ...usage(pod.reading, core.pressure(pod.reading.path), whole !== undefined),
    network: network === undefined ? undefined : networkStats(pod.reading.at, network),
    volume: volumes === undefined || volumes.length === 0 ? undefined : volumes.map(volumeStats),
    "ephemeral-storage": whole === undefined ? undefined : ephemeralStats(pod, whole),
    process_stats:
      whole === undefined
        ? undefined
        : { process_count: pod.containers.reduce((sum, { reading }) => sum + whole.processes(reading.path), 0) },
    swap: swapStats(pod.reading),
  });
}

function containerStats(
  core: CoreInputs,
  podUid: string,
  { place, reading }: ContainerReading,
  whole: WholeInputs | undefined,
): ContainerStats {
  return present<ContainerStats>({
    name: place.name,
    startTime: timeText(place.startedAt ?? reading.at),
    ...usage(reading, core.pressure(reading.path), whole !== undefined),
    rootfs: fsStats(whole?.rootfs(place.id)),
    logs: fsStats(whole?.logs(podUid, place.name)),
    swap: swapStats(reading),
  });
}

/** All that the pod has on the node's own file system. */
function ephemeralStats({ place, containers }: PodReading, whole: WholeInputs): FsStats | undefined {
  if (whole.fs === undefined) return undefined;
  const { uid } = place.pod.metadata;
  const local = whole.disk(uid)?.local;
  const written = containers.flatMap(({ place: { id, name } }) => [whole.rootfs(id), whole.logs(uid, name)]);
  const sum = (of: "usedBytes" | "inodesUsed"): number => written.reduce((total, fs) => total + (fs?.[of] ?? 0), 0);
  const bytes = sum("usedBytes") + (local?.bytes ?? 0);
  return fsStats(partOf(whole.fs, whole.fs.at, bytes, sum("inodesUsed") + (local?.inodes ?? 0)));
}

function volumeStats({ name, pvcRef, abnormal, ...fs }: VolumeFigures): VolumeStats {
  const volumeHealthStats = abnormal === undefined ? undefined : { abnormal };
  return present<VolumeStats>({ ...fsStats(fs), name, pvcRef, volumeHealthStats });
}

function usage(
  reading: Reading,
  pressure: CgroupPressure,
  io: boolean,
): Optional<Pick<ContainerStats, "cpu" | "memory" | "io">> {
  const of = (name: "cpu" | "memory"): Pressure => pressure[name];
  return {
    cpu: cpuStats(reading, of("cpu")),
    memory: memoryStats(reading, of("memory")),
    io: io ? ioStats(reading, pressure) : undefined,
  };
}

type Optional<T> = { [K in keyof T]?: T[K] | undefined };

/** Without the members that are undefined. */
function present<T extends object>(members: Optional<T>): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}
