// cgroup v2: one directory for each cgroup, counters that include child cgroups. The root has fewer files: its memory
// is the machine's.

import { omitUndefined } from "../../../base/objects/omit-undefined.js";
import type {
  BlockFigures,
  CgroupPressure,
  CgroupReader,
  CgroupReads,
  CpuFigures,
  DetailFigures,
  MemoryFigures,
  Operations,
} from "../cgroup-figures.js";
import { keyed, oneNumber, type ListDirectories, type ReadText } from "../kernel-file.js";
import { CgroupFileReader } from "./file-reader.js";
import { parsePressure } from "./pressure.js";

const NANOS_PER_MICRO = 1000;
const KIB = 1024;
/** cpu.max without its second word. */
const DEFAULT_PERIOD = 100_000;

export class CgroupReaderV2 extends CgroupFileReader implements CgroupReader {
  readonly version = 2;
  constructor(
    private readonly mountPoint: string,
    read: ReadText,
    list: ListDirectories,
    reads?: CgroupReads,
  ) {
    super(read, list, reads);
  }

  directory(path: string): string {
    return path === "/" ? this.mountPoint : this.mountPoint + path;
  }

  pressure(path: string): CgroupPressure {
    // The root's is the machine's.
    const of = (name: string): string | undefined =>
      path === "/" ? this.often(`/proc/pressure/${name}`) : this.often(`${this.directory(path)}/${name}.pressure`);
    return { cpu: parsePressure(of("cpu")), memory: parsePressure(of("memory")), io: parsePressure(of("io")) };
  }

  cpu(path: string): CpuFigures | undefined {
    const stat = this.often(`${this.directory(path)}/cpu.stat`);
    return stat === undefined ? undefined : { usage: (keyed(stat, "usage_usec") ?? 0) * NANOS_PER_MICRO };
  }

  memory(path: string): MemoryFigures | undefined {
    const directory = this.directory(path);
    const stat = this.often(`${directory}/memory.stat`);
    const usage =
      path === "/"
        ? machineUsage(this.read("/proc/meminfo"))
        : (oneNumber(this.often(`${directory}/memory.current`)) ?? 0);
    if (stat === undefined || usage === undefined) return undefined;
    const of = (key: string): number => keyed(stat, key) ?? 0;
    const inactiveFile = of("inactive_file");
    const limit = oneNumber(this.settled(`${directory}/memory.max`));
    const swapLimit = oneNumber(this.settled(`${directory}/memory.swap.max`));
    return omitUndefined({
      usage,
      workingSet: Math.max(0, usage - inactiveFile),
      rss: of("anon"),
      cache: of("file"),
      mapped: of("file_mapped"),
      activeFile: of("active_file"),
      inactiveFile,
      pageFaults: of("pgfault"),
      majorPageFaults: of("pgmajfault"),
      swap: oneNumber(this.often(`${directory}/memory.swap.current`)) ?? 0,
      limit,
      swapLimit,
    });
  }

  details(path: string): DetailFigures {
    const directory = this.directory(path);
    const stat = this.read(`${directory}/cpu.stat`) ?? "";
    const events = this.read(`${directory}/memory.events`) ?? "";
    const of = (key: string): number => keyed(stat, key) ?? 0;
    const [quota = "max", period = ""] = (this.settled(`${directory}/cpu.max`) ?? "").split(" ");
    const reservation = oneNumber(this.settled(`${directory}/memory.low`));
    const threads = oneNumber(this.read(`${directory}/pids.current`));
    const threadsMax = oneNumber(this.settled(`${directory}/pids.max`));
    const limited = oneNumber(quota);
    return omitUndefined({
      user: of("user_usec") * NANOS_PER_MICRO,
      system: of("system_usec") * NANOS_PER_MICRO,
      kernelMemory: keyed(this.read(`${directory}/memory.stat`) ?? "", "kernel") ?? 0,
      maxMemory: this.number(`${directory}/memory.peak`),
      memoryFailures: keyed(events, "max") ?? 0,
      oomEvents: keyed(events, "oom_kill") ?? 0,
      shares: sharesOf(oneNumber(this.settled(`${directory}/cpu.weight`))),
      period: oneNumber(period) ?? DEFAULT_PERIOD,
      periods: of("nr_periods"),
      throttledPeriods: of("nr_throttled"),
      throttled: of("throttled_usec") * NANOS_PER_MICRO,
      burstPeriods: of("nr_bursts"),
      burst: of("burst_usec") * NANOS_PER_MICRO,
      block: blockFigures(this.read(`${directory}/io.stat`) ?? ""),
      quota: limited,
      memoryReservation: reservation,
      threads,
      threadsMax,
    });
  }
}

/**
 * The shares that the runtime turns into this weight, the nearest there is; the root has no weight and counts as 1024.
 */
function sharesOf(weight: number | undefined): number {
  if (weight === undefined) return 1024;
  return Math.round(2 + ((weight - 1) * 262_142) / 9999);
}

function machineUsage(meminfo: string | undefined): number | undefined {
  const of = (key: string): number | undefined => {
    const kib = new RegExp(`^${key}:\\s+(\\d+) kB$`, "m").exec(meminfo ?? "")?.[1];
    return kib === undefined ? undefined : Number(kib) * KIB;
  };
  const [total, free] = [of("MemTotal"), of("MemFree")];
  return total === undefined || free === undefined ? undefined : total - free;
}

/** Lines "8:0 rbytes=4096 wbytes=0 rios=1 wios=0 dbytes=0 dios=0", with cost.usage=… where the cost model is on. */
function blockFigures(text: string): BlockFigures[] {
  return text.split("\n").flatMap((line) => {
    const [device = "", ...words] = line.split(" ");
    if (!/^\d+:\d+$/.test(device)) return [];
    const fields = new Map(words.map((word) => [word.split("=")[0], Number(word.split("=")[1])]));
    const operations = (read: string, write: string): Operations => ({
      Read: fields.get(read) ?? 0,
      Write: fields.get(write) ?? 0,
    });
    const cost = fields.has("cost.usage")
      ? {
          usage: fields.get("cost.usage") ?? 0,
          wait: fields.get("cost.wait") ?? 0,
          indebt: fields.get("cost.indebt") ?? 0,
          indelay: fields.get("cost.indelay") ?? 0,
        }
      : undefined;
    return [
      omitUndefined({
        device,
        bytes: fields.has("rbytes") ? operations("rbytes", "wbytes") : undefined,
        served: fields.has("rbytes") ? operations("rios", "wios") : undefined,
        cost,
      }),
    ];
  });
}
