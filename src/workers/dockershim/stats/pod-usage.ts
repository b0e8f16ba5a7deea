// Usage of pods: CPU and memory of the pod's cgroup, which keeps the CPU time of containers that ended; its network by
// the counters of the sandbox's interfaces; its processes.

import type {
  Container,
  ContainerStats,
  LinuxPodSandboxStats,
  NetworkInterfaceUsage,
  NetworkUsage,
} from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import { readCgroupMounts } from "../../../shared/node/cgroup/mounts.js";
import { fromSystemdSlice, toSystemdPath } from "../../../shared/node/cgroup/name.js";
import type { CgroupReader } from "../../../shared/node/stats/cgroup-figures.js";
import { CgroupReaderV1 } from "../../../shared/node/stats/cgroup/v1.js";
import { CgroupReaderV2 } from "../../../shared/node/stats/cgroup/v2.js";
import { listKernelDirectories, readKernelText } from "../../../shared/node/stats/kernel-file.js";
import { parseNetDev, type InterfaceFigures } from "../../../shared/node/stats/net-dev.js";
import type { CgroupDriverName } from "../containers/cgroup-parent.js";
import { value } from "./samples.js";

const DEFAULT_INTERFACE = "eth0";

export interface SandboxPlace {
  /** The Engine's CgroupParent. */
  parent: string;
  driver: CgroupDriverName;
  /** Process id of the sandbox's container. */
  pid: number;
  hostNetwork: boolean;
}

export async function openCgroups(): Promise<CgroupReader> {
  const mounts = await readCgroupMounts();
  return mounts.version === 2
    ? new CgroupReaderV2(mounts.mountPoint, readKernelText, listKernelDirectories)
    : new CgroupReaderV1(mounts, readKernelText, listKernelDirectories);
}

/** @param containers those of the pod that run */
export function podUsage(
  reader: CgroupReader,
  place: SandboxPlace,
  containers: readonly ContainerStats[],
  timestamp: bigint,
): LinuxPodSandboxStats {
  const path = podPath(place);
  const cpu = path === undefined ? undefined : reader.cpu(path);
  const memory = path === undefined ? undefined : reader.memory(path);
  return {
    cpu: cpu && { timestamp, usageCoreNanoSeconds: value(cpu.usage), usageNanoCores: undefined, psi: undefined },
    memory: memory && {
      timestamp,
      workingSetBytes: value(memory.workingSet),
      availableBytes: memory.limit === undefined ? undefined : value(Math.max(memory.limit - memory.workingSet, 0)),
      usageBytes: value(memory.usage),
      rssBytes: value(memory.rss),
      pageFaults: value(memory.pageFaults),
      majorPageFaults: value(memory.majorPageFaults),
      psi: undefined,
    },
    network: place.hostNetwork ? undefined : networkUsage(place.pid, timestamp),
    process: path === undefined ? undefined : { timestamp, processCount: value(processes(reader, path)) },
    containers: [...containers],
    io: undefined,
  };
}

/** undefined: the caller of RunPodSandbox named no cgroup, so it is shared with other containers of docker. */
function podPath({ parent, driver }: Pick<SandboxPlace, "parent" | "driver">): string | undefined {
  if (parent === "") return undefined;
  if (driver === "systemd") return toSystemdPath(fromSystemdSlice(parent));
  return parent.startsWith("/") ? parent : `/${parent}`;
}

function processes(reader: CgroupReader, path: string): number {
  const below = reader.children(path).map((name) => `${path}/${name}`);
  return [path, ...below].reduce((sum, each) => sum + reader.processes(each).length, 0);
}

/** undefined: the process is not there any more. */
function networkUsage(pid: number, timestamp: bigint): NetworkUsage | undefined {
  const text = pid > 0 ? readKernelText(`/proc/${pid}/net/dev`) : undefined;
  if (text === undefined) return undefined;
  const all = parseNetDev(text).map(interfaceUsage);
  const main = all.find(({ name }) => name === DEFAULT_INTERFACE) ?? all[0];
  return { timestamp, defaultInterface: main, interfaces: all.filter((one) => one !== main) };
}

function interfaceUsage({ name, rxBytes, rxErrors, txBytes, txErrors }: InterfaceFigures): NetworkInterfaceUsage {
  return {
    name,
    rxBytes: value(rxBytes),
    rxErrors: value(rxErrors),
    txBytes: value(txBytes),
    txErrors: value(txErrors),
  };
}

export interface SampledContainer {
  container: Container;
  stats: ContainerStats;
}
