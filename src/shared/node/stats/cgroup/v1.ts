// cgroup v1: one directory per hierarchy. Counters of memory.stat that begin with total_ include child cgroups; page
// faults are the cgroup's own, as upstream shows them.

import { omitUndefined } from "../../../base/objects/omit-undefined.js";
import { v1MountPoint, type CgroupMounts } from "../../cgroup/mounts.js";
import type {
  CgroupPressure,
  CgroupReader,
  CgroupReads,
  CpuFigures,
  DetailFigures,
  MemoryFigures,
} from "../cgroup-figures.js";
import { keyed, oneNumber, type ListDirectories, type ReadText } from "../kernel-file.js";
import { BlkioReader } from "./blkio.js";
import { CgroupFileReader } from "./file-reader.js";
import { NO_PRESSURES } from "./pressure.js";

/** Ticks per second of cpuacct.stat: USER_HZ, the same on every architecture that runs containers. */
const USER_HZ = 100;
const NANOS = 1e9;
/** From here on a limit is none: the kernel's own is the largest multiple of the page size. */
const UNLIMITED = 2 ** 62;

export class CgroupReaderV1 extends CgroupFileReader implements CgroupReader {
  readonly version = 1;
  private readonly mountPoints: Readonly<Record<"cpu" | "cpuacct" | "memory" | "pids", string>>;
  private readonly blkio: BlkioReader;
  /** One file decides: swap is accounted everywhere or nowhere (swapaccount=0). */
  private swapAccounted: boolean | undefined;

  constructor(mounts: CgroupMounts & { version: 1 }, read: ReadText, list: ListDirectories, reads?: CgroupReads) {
    super(read, list, reads);
    const at = (controller: string): string => v1MountPoint(mounts, controller) ?? `/no-${controller}-hierarchy`;
    this.mountPoints = { cpu: at("cpu"), cpuacct: at("cpuacct"), memory: at("memory"), pids: at("pids") };
    this.blkio = new BlkioReader(at("blkio"), read);
  }

  directory(path: string): string {
    return this.mountPoints.memory + path;
  }

  pressure(): CgroupPressure {
    return NO_PRESSURES;
  }

  cpu(path: string): CpuFigures | undefined {
    const usage = oneNumber(this.often(`${this.mountPoints.cpuacct}${path}/cpuacct.usage`));
    return usage === undefined ? undefined : { usage };
  }

  memory(path: string): MemoryFigures | undefined {
    const directory = this.directory(path);
    const stat = this.often(`${directory}/memory.stat`);
    const usage = oneNumber(this.often(`${directory}/memory.usage_in_bytes`));
    if (stat === undefined || usage === undefined) return undefined;
    const of = (key: string): number => keyed(stat, key) ?? 0;
    const inactiveFile = of("total_inactive_file");
    const limit = this.bounded(`${directory}/memory.limit_in_bytes`);
    this.swapAccounted ??= this.read(`${directory}/memory.memsw.usage_in_bytes`) !== undefined;
    const swapLimit = this.swapAccounted ? this.bounded(`${directory}/memory.memsw.limit_in_bytes`) : undefined;
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
  }

  details(path: string): DetailFigures {
    const directory = this.directory(path);
    const { settled } = this;
    const [cpu, cpuacct, pids] = [
      this.mountPoints.cpu + path,
      this.mountPoints.cpuacct + path,
      this.mountPoints.pids + path,
    ];
    const quota = oneNumber(settled(`${cpu}/cpu.cfs_quota_us`)) ?? 0;
    // Nothing is held back without a quota.
    const throttling = quota > 0 ? (this.read(`${cpu}/cpu.stat`) ?? "") : "";
    const of = (key: string): number => keyed(throttling, key) ?? 0;
    const stat = this.read(`${cpuacct}/cpuacct.stat`) ?? "";
    const ticks = (key: string): number => ((keyed(stat, key) ?? 0) * NANOS) / USER_HZ;
    const reservation = this.bounded(`${directory}/memory.soft_limit_in_bytes`);
    const threads = oneNumber(this.read(`${pids}/pids.current`));
    const threadsMax = oneNumber(settled(`${pids}/pids.max`));
    return omitUndefined({
      user: ticks("user"),
      system: ticks("system"),
      kernelMemory: this.number(`${directory}/memory.kmem.usage_in_bytes`),
      maxMemory: this.number(`${directory}/memory.max_usage_in_bytes`),
      memoryFailures: this.number(`${directory}/memory.failcnt`),
      oomEvents: keyed(this.read(`${directory}/memory.oom_control`) ?? "", "oom_kill") ?? 0,
      shares: oneNumber(settled(`${cpu}/cpu.shares`)) ?? 0,
      period: oneNumber(settled(`${cpu}/cpu.cfs_period_us`)) ?? 0,
      periods: of("nr_periods"),
      throttledPeriods: of("nr_throttled"),
      throttled: of("throttled_time"),
      burstPeriods: of("nr_bursts"),
      burst: of("burst_time"),
      block: this.blkio.figures(path),
      quota: quota > 0 ? quota : undefined,
      memoryReservation: reservation,
      threads,
      threadsMax,
    });
  }

  private bounded(path: string): number | undefined {
    const value = oneNumber(this.settled(path));
    return value === undefined || value >= UNLIMITED ? undefined : value;
  }
}
