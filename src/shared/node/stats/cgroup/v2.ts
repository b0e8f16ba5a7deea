// cgroup v2: one directory for each cgroup, counters that include child cgroups. The root has fewer files: its memory
// is the machine's.

import { omitUndefined } from "../../../base/objects/omit-undefined.js";
import type {
  BlockFigures,
  CgroupReader,
  CgroupReads,
  CpuFigures,
  DetailFigures,
  MemoryFigures,
  Operations,
} from "../cgroup-figures.js";
import { keyed, oneNumber, type ListDirectories, type ReadText } from "../kernel-file.js";
import { parsePressure } from "./pressure.js";
import { processIds } from "./v1.js";

const NANOS_PER_MICRO = 1000;
const KIB = 1024;
/** cpu.max without its second word. */
const DEFAULT_PERIOD = 100_000;

export function cgroupReaderV2(
  mountPoint: string,
  read: ReadText,
  list: ListDirectories,
  { often = read, settled = read }: CgroupReads = {},
): CgroupReader {
  const at = (path: string): string => (path === "/" ? mountPoint : mountPoint + path);
  const number = (path: string): number => oneNumber(read(path)) ?? 0;

  return {
    version: 2,
    directory: at,
    exists: (path) => read(`${at(path)}/cgroup.procs`) !== undefined,
    children: (path) => list(at(path)),
    processes: (path) => processIds(read(`${at(path)}/cgroup.procs`)),
    pressure(path) {
      // The root's is the machine's.
      const of = (name: string): string | undefined =>
        path === "/" ? often(`/proc/pressure/${name}`) : often(`${at(path)}/${name}.pressure`);
      return { cpu: parsePressure(of("cpu")), memory: parsePressure(of("memory")), io: parsePressure(of("io")) };
    },

    cpu(path): CpuFigures | undefined {
      const stat = often(`${at(path)}/cpu.stat`);
      return stat === undefined ? undefined : { usage: (keyed(stat, "usage_usec") ?? 0) * NANOS_PER_MICRO };
    },

    memory(path): MemoryFigures | undefined {
      const directory = at(path);
      const stat = often(`${directory}/memory.stat`);
      const usage =
        path === "/" ? machineUsage(read("/proc/meminfo")) : (oneNumber(often(`${directory}/memory.current`)) ?? 0);
      if (stat === undefined || usage === undefined) return undefined;
      const of = (key: string): number => keyed(stat, key) ?? 0;
      const inactiveFile = of("inactive_file");
      const limit = oneNumber(settled(`${directory}/memory.max`));
      const swapLimit = oneNumber(settled(`${directory}/memory.swap.max`));
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
        swap: oneNumber(often(`${directory}/memory.swap.current`)) ?? 0,
        limit,
        swapLimit,
      });
    },

    details(path): DetailFigures {
      const directory = at(path);
      const stat = read(`${directory}/cpu.stat`) ?? "";
      const events = read(`${directory}/memory.events`) ?? "";
      const of = (key: string): number => keyed(stat, key) ?? 0;
      const [quota = "max", period = ""] = (settled(`${directory}/cpu.max`) ?? "").split(" ");
      const reservation = oneNumber(settled(`${directory}/memory.low`));
      const threads = oneNumber(read(`${directory}/pids.current`));
      const threadsMax = oneNumber(settled(`${directory}/pids.max`));
      const limited = oneNumber(quota);
      return omitUndefined({
        user: of("user_usec") * NANOS_PER_MICRO,
        system: of("system_usec") * NANOS_PER_MICRO,
        kernelMemory: keyed(read(`${directory}/memory.stat`) ?? "", "kernel") ?? 0,
        maxMemory: number(`${directory}/memory.peak`),
        memoryFailures: keyed(events, "max") ?? 0,
        oomEvents: keyed(events, "oom_kill") ?? 0,
        shares: sharesOf(oneNumber(settled(`${directory}/cpu.weight`))),
        period: oneNumber(period) ?? DEFAULT_PERIOD,
        periods: of("nr_periods"),
        throttledPeriods: of("nr_throttled"),
        throttled: of("throttled_usec") * NANOS_PER_MICRO,
        burstPeriods: of("nr_bursts"),
        burst: of("burst_usec") * NANOS_PER_MICRO,
        block: blockFigures(read(`${directory}/io.stat`) ?? ""),
        quota: limited,
        memoryReservation: reservation,
        threads,
        threadsMax,
      });
    },
  };
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
