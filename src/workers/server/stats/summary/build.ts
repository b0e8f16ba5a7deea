// The Summary out of one look at the cgroups and what is known of disks and networks.
import type { CgroupPressure, Pressure } from "../cgroup/figures.js";
import type { InterfaceFigures } from "../node/net-dev.js";
import type { ProcessLimit } from "../node/machine.js";
import type { ContainerReading, NodeReadings, PodReading, Reading } from "../readings.js";
import { cpuStats, ioStats, memoryStats, networkStats, swapStats, timeText } from "./figures.js";
import type { ContainerStats, FsStats, NodeStats, PodStats, Summary, VolumeStats } from "./types.js";

/** What a summary of CPU and memory alone needs. */
export interface CoreInputs {
  nodeName: string;
  /** Milliseconds since the epoch. */
  bootedAt: number;
  machineMemory: number;
  swapFree: number;
  readings: NodeReadings;
  pressure: (path: string) => CgroupPressure;
}

/** Everything else: each part is absent when it is not known. */
export interface WholeInputs {
  network: (pod: PodReading | "node") => readonly InterfaceFigures[] | undefined;
  fs?: FsStats | undefined;
  imageFs?: FsStats | undefined;
  containerFs?: FsStats | undefined;
  limit?: (ProcessLimit & { at: number }) | undefined;
  rootfs: (containerId: string) => FsStats | undefined;
  logs: (podUid: string, container: string) => FsStats | undefined;
  volumes: (podUid: string) => readonly VolumeStats[] | undefined;
  ephemeral: (pod: PodReading) => FsStats | undefined;
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
    fs: whole?.fs,
    runtime: runtimeStats(whole),
    rlimit: limitStats(whole?.limit),
    swap: { time: timeText(root.at), swapAvailableBytes: core.swapFree, swapUsageBytes: root.memory?.swap ?? 0 },
  });
}

function runtimeStats(whole: WholeInputs | undefined): NodeStats["runtime"] | undefined {
  const { imageFs, containerFs } = whole ?? {};
  return imageFs === undefined && containerFs === undefined ? undefined : present({ imageFs, containerFs });
}

function limitStats(limit: WholeInputs["limit"]): NodeStats["rlimit"] | undefined {
  if (limit === undefined) return undefined;
  return present({ time: timeText(limit.at), maxpid: limit.max, curproc: limit.current });
}

function cgroupStats(core: CoreInputs, name: string, reading: Reading, whole: boolean): ContainerStats {
  const pressure = core.pressure(reading.path);
  return present<ContainerStats>({
    name,
    startTime: timeText(core.bootedAt),
    ...usage(reading, pressure, whole),
    swap: swapStats(reading),
  });
}

function podStats(core: CoreInputs, pod: PodReading, whole: WholeInputs | undefined): PodStats {
  const { name, namespace, uid } = pod.place.pod.metadata;
  const network = whole?.network(pod);
  return present<PodStats>({
    podRef: { name, namespace, uid },
    startTime: pod.place.pod.status?.startTime ?? timeText(pod.reading.at),
    containers: pod.containers.map((container) => containerStats(core, uid, container, whole)),
    ...usage(pod.reading, core.pressure(pod.reading.path), whole !== undefined),
    network: network === undefined ? undefined : networkStats(pod.reading.at, network),
    volume: whole?.volumes(uid)?.slice(),
    "ephemeral-storage": whole?.ephemeral(pod),
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
    rootfs: whole?.rootfs(place.id),
    logs: whole?.logs(podUid, place.name),
    swap: swapStats(reading),
  });
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
