// cgroup v2: one directory for each cgroup, counters that hold what is below, too. The root has fewer files: its memory is the
// machine's.
import type { BlockFigures, CgroupReader, CpuFigures, DetailFigures, MemoryFigures } from "../cgroup-figures.js";
import { keyed, oneNumber, type ListDirectories, type ReadText } from "../kernel-file.js";
import { parsePressure } from "./pressure.js";
import { processIds } from "./v1.js";

const NANOS_PER_MICRO = 1000;
const KIB = 1024;
/** cpu.max without its second word. */
const DEFAULT_PERIOD = 100_000;

export function cgroupReaderV2(mountPoint: string, read: ReadText, list: ListDirectories): CgroupReader {
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
        path === "/" ? read(`/proc/pressure/${name}`) : read(`${at(path)}/${name}.pressure`);
      return { cpu: parsePressure(of("cpu")), memory: parsePressure(of("memory")), io: parsePressure(of("io")) };
    },

    cpu(path): CpuFigures | undefined {
      const stat = read(`${at(path)}/cpu.stat`);
      if (stat === undefined) return undefined;
      const nanos = (key: string): number => (keyed(stat, key) ?? 0) * NANOS_PER_MICRO;
      return { usage: nanos("usage_usec"), user: nanos("user_usec"), system: nanos("system_usec") };
    },

    memory(path): MemoryFigures | undefined {
      const directory = at(path);
      const stat = read(`${directory}/memory.stat`);
      const usage = path === "/" ? machineUsage(read("/proc/meminfo")) : number(`${directory}/memory.current`);
      if (stat === undefined || usage === undefined) return undefined;
      const of = (key: string): number => keyed(stat, key) ?? 0;
      const inactiveFile = of("inactive_file");
      const limit = oneNumber(read(`${directory}/memory.max`));
      const swapLimit = oneNumber(read(`${directory}/memory.swap.max`));
      return {
        usage,
        workingSet: Math.max(0, usage - inactiveFile),
        rss: of("anon"),
        cache: of("file"),
        mapped: of("file_mapped"),
        activeFile: of("active_file"),
        inactiveFile,
        pageFaults: of("pgfault"),
        majorPageFaults: of("pgmajfault"),
        swap: number(`${directory}/memory.swap.current`),
        ...(limit === undefined ? {} : { limit }),
        ...(swapLimit === undefined ? {} : { swapLimit }),
      };
    },

    details(path): DetailFigures {
      const directory = at(path);
      const stat = read(`${directory}/cpu.stat`) ?? "";
      const events = read(`${directory}/memory.events`) ?? "";
      const of = (key: string): number => keyed(stat, key) ?? 0;
      const [quota = "max", period = ""] = (read(`${directory}/cpu.max`) ?? "").split(" ");
      const reservation = oneNumber(read(`${directory}/memory.low`));
      const threads = oneNumber(read(`${directory}/pids.current`));
      const threadsMax = oneNumber(read(`${directory}/pids.max`));
      const limited = oneNumber(quota);
      return {
        kernelMemory: keyed(read(`${directory}/memory.stat`) ?? "", "kernel") ?? 0,
        maxMemory: number(`${directory}/memory.peak`),
        memoryFailures: keyed(events, "max") ?? 0,
        oomEvents: keyed(events, "oom_kill") ?? 0,
        shares: sharesOf(oneNumber(read(`${directory}/cpu.weight`))),
        period: oneNumber(period) ?? DEFAULT_PERIOD,
        periods: of("nr_periods"),
        throttledPeriods: of("nr_throttled"),
        throttled: of("throttled_usec") * NANOS_PER_MICRO,
        burstPeriods: of("nr_bursts"),
        burst: of("burst_usec") * NANOS_PER_MICRO,
        block: blockFigures(read(`${directory}/io.stat`) ?? ""),
        ...(limited === undefined ? {} : { quota: limited }),
        ...(reservation === undefined ? {} : { memoryReservation: reservation }),
        ...(threads === undefined ? {} : { threads }),
        ...(threadsMax === undefined ? {} : { threadsMax }),
      };
    },
  };
}

/** The shares that the runtime turns into this weight, the nearest there is; the root has no weight and counts as 1024. */
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

/** Lines "8:0 rbytes=4096 wbytes=0 rios=1 wios=0 dbytes=0 dios=0". */
function blockFigures(text: string): BlockFigures[] {
  return text.split("\n").flatMap((line) => {
    const [device = "", ...words] = line.split(" ");
    if (!device.includes(":")) return [];
    const fields = new Map(words.map((word) => [word.split("=")[0], Number(word.split("=")[1])]));
    const of = (name: string): number => fields.get(name) ?? 0;
    return [{ device, readBytes: of("rbytes"), writtenBytes: of("wbytes"), reads: of("rios"), writes: of("wios") }];
  });
}
