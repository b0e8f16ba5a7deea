// cgroup v1: one directory per hierarchy. Counters of memory.stat that begin with total_ include child cgroups; page
// faults are the cgroup's own, as upstream shows them.

import { omitUndefined } from "../../../base/objects/omit-undefined.js";
import { v1MountPoint, type CgroupMounts } from "../../cgroup/mounts.js";
import type { CgroupReader, CgroupReads, CpuFigures, DetailFigures, MemoryFigures } from "../cgroup-figures.js";
import { keyed, oneNumber, type ListDirectories, type ReadText } from "../kernel-file.js";
import { BlkioReader } from "./blkio.js";
import { NO_PRESSURES } from "./pressure.js";

/** Ticks per second of cpuacct.stat: USER_HZ, the same on every architecture that runs containers. */
const USER_HZ = 100;
const NANOS = 1e9;
/** From here on a limit is none: the kernel's own is the largest multiple of the page size. */
const UNLIMITED = 2 ** 62;

export function cgroupReaderV1(
  mounts: CgroupMounts & { version: 1 },
  read: ReadText,
  list: ListDirectories,
  { often = read, settled = read }: CgroupReads = {},
): CgroupReader {
  const at = (controller: string): string => v1MountPoint(mounts, controller) ?? `/no-${controller}-hierarchy`;
  const cpuacct = at("cpuacct");
  const cpu = at("cpu");
  const memory = at("memory");
  const pids = at("pids");
  const blkio = new BlkioReader(at("blkio"), read);
  const number = (path: string): number => oneNumber(read(path)) ?? 0;
  const bounded = (path: string): number | undefined => {
    const value = oneNumber(settled(path));
    return value === undefined || value >= UNLIMITED ? undefined : value;
  };
  // One file decides: swap is accounted everywhere or nowhere (swapaccount=0).
  let swapAccounted: boolean | undefined;

  return {
    version: 1,
    directory: (path) => memory + path,
    exists: (path) => read(`${memory}${path}/cgroup.procs`) !== undefined,
    children: (path) => list(memory + path),
    processes: (path) => processIds(read(`${memory}${path}/cgroup.procs`)),
    pressure: () => NO_PRESSURES,

    cpu(path): CpuFigures | undefined {
      const usage = oneNumber(often(`${cpuacct}${path}/cpuacct.usage`));
      return usage === undefined ? undefined : { usage };
    },

    memory(path): MemoryFigures | undefined {
      const directory = memory + path;
      const stat = often(`${directory}/memory.stat`);
      const usage = oneNumber(often(`${directory}/memory.usage_in_bytes`));
      if (stat === undefined || usage === undefined) return undefined;
      const of = (key: string): number => keyed(stat, key) ?? 0;
      const inactiveFile = of("total_inactive_file");
      const limit = bounded(`${directory}/memory.limit_in_bytes`);
      swapAccounted ??= read(`${directory}/memory.memsw.usage_in_bytes`) !== undefined;
      const swapLimit = swapAccounted ? bounded(`${directory}/memory.memsw.limit_in_bytes`) : undefined;
      return omitUndefined({
        usage,
        workingSet: Math.max(0, usage - inactiveFile),
        rss: of("total_rss"),
        cache: of("total_cache"),
        mapped: of("total_mapped_file"),
        activeFile: of("total_active_file"),
        inactiveFile,
        pageFaults: of("pgfault"),
        majorPageFaults: of("pgmajfault"),
        swap: of("total_swap"),
        limit,
        swapLimit,
      });
    },

    details(path): DetailFigures {
      const directory = memory + path;
      const quota = oneNumber(settled(`${cpu}${path}/cpu.cfs_quota_us`)) ?? 0;
      // Nothing is held back without a quota.
      const throttling = quota > 0 ? (read(`${cpu}${path}/cpu.stat`) ?? "") : "";
      const of = (key: string): number => keyed(throttling, key) ?? 0;
      const stat = read(`${cpuacct}${path}/cpuacct.stat`) ?? "";
      const ticks = (key: string): number => ((keyed(stat, key) ?? 0) * NANOS) / USER_HZ;
      const reservation = bounded(`${directory}/memory.soft_limit_in_bytes`);
      const threads = oneNumber(read(`${pids}${path}/pids.current`));
      const threadsMax = oneNumber(settled(`${pids}${path}/pids.max`));
      return omitUndefined({
        user: ticks("user"),
        system: ticks("system"),
        kernelMemory: number(`${directory}/memory.kmem.usage_in_bytes`),
        maxMemory: number(`${directory}/memory.max_usage_in_bytes`),
        memoryFailures: number(`${directory}/memory.failcnt`),
        oomEvents: keyed(read(`${directory}/memory.oom_control`) ?? "", "oom_kill") ?? 0,
        shares: oneNumber(settled(`${cpu}${path}/cpu.shares`)) ?? 0,
        period: oneNumber(settled(`${cpu}${path}/cpu.cfs_period_us`)) ?? 0,
        periods: of("nr_periods"),
        throttledPeriods: of("nr_throttled"),
        throttled: of("throttled_time"),
        burstPeriods: of("nr_bursts"),
        burst: of("burst_time"),
        block: blkio.figures(path),
        quota: quota > 0 ? quota : undefined,
        memoryReservation: reservation,
        threads,
        threadsMax,
      });
    },
  };
}

export function processIds(text: string | undefined): readonly number[] {
  return (text ?? "").split("\n").flatMap((line) => (line === "" ? [] : [Number(line)]));
}
