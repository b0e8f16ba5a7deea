import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "node:test";
import type { CgroupMounts } from "../../../../src/shared/node/cgroup/mounts.js";
import type { CgroupReader } from "../../../../src/shared/node/stats/cgroup-figures.js";
import { BlkioReader } from "../../../../src/shared/node/stats/cgroup/blkio.js";
import { NO_PRESSURES, parsePressure } from "../../../../src/shared/node/stats/cgroup/pressure.js";
import { CgroupReaderV1 } from "../../../../src/shared/node/stats/cgroup/v1.js";
import { CgroupReaderV2 } from "../../../../src/shared/node/stats/cgroup/v2.js";
import { keyed, oneNumber } from "../../../../src/shared/node/stats/kernel-file.js";
import { KernelTree } from "./tree.js";

const V1_STAT = `cache 20480
rss 114688
mapped_file 4096
swap 0
pgfault 8735
pgmajfault 2
inactive_file 8192
active_file 12288
hierarchical_memory_limit 79998976
total_cache 20481
total_rss 114689
total_mapped_file 4097
total_swap 5
total_pgfault 9999
total_pgmajfault 9
total_inactive_file 8193
total_active_file 12289
`;

const V2_STAT = `anon 114688
file 20480
kernel 266240
file_mapped 4096
inactive_file 8192
active_file 12288
pgfault 8735
pgmajfault 2
`;

const V1: CgroupMounts & { version: 1 } = {
  version: 1,
  hierarchies: ["cpu", "cpuacct", "memory", "pids", "blkio"].map((name) => ({
    controllers: [name],
    mountPoint: `/cg/${name}`,
    root: "/",
  })),
};

const V1_FILES = {
  "/cg/cpuacct/p/cpuacct.usage": "113486564\n",
  "/cg/cpuacct/p/cpuacct.stat": "user 2\nsystem 8\n",
  "/cg/memory/p/cgroup.procs": "12\n40\n",
  "/cg/memory/p/memory.stat": V1_STAT,
  "/cg/memory/p/memory.usage_in_bytes": "401408\n",
  "/cg/memory/p/memory.limit_in_bytes": "79998976\n",
  "/cg/memory/p/memory.memsw.usage_in_bytes": "401408\n",
  "/cg/memory/p/memory.memsw.limit_in_bytes": "9223372036854771712\n",
  "/cg/memory/p/memory.kmem.usage_in_bytes": "266240\n",
  "/cg/memory/p/memory.max_usage_in_bytes": "2543616\n",
  "/cg/memory/p/memory.failcnt": "3\n",
  "/cg/memory/p/memory.soft_limit_in_bytes": "9223372036854771712\n",
  "/cg/memory/p/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n",
  "/cg/memory/p/below/cgroup.procs": "",
  "/cg/cpu/p/cpu.shares": "102\n",
  "/cg/cpu/p/cpu.cfs_quota_us": "10000\n",
  "/cg/cpu/p/cpu.cfs_period_us": "100000\n",
  "/cg/cpu/p/cpu.stat": "nr_periods 7\nnr_throttled 3\nthrottled_time 900\nnr_bursts 1\nburst_time 11\n",
  "/cg/pids/p/pids.current": "2\n",
  "/cg/pids/p/pids.max": "max\n",
  "/cg/blkio/blkio.throttle.io_service_bytes": "Total 0\n",
  "/cg/blkio/p/blkio.throttle.io_service_bytes":
    "8:0 Read 4096\n8:0 Write 512\n8:0 Sync 0\n8:0 Total 4608\nTotal 4608\n",
  "/cg/blkio/p/blkio.throttle.io_serviced": "8:0 Read 1\n8:0 Write 2\nTotal 3\n",
};

const MEMORY = {
  usage: 401408,
  rss: 114688,
  cache: 20480,
  mapped: 4096,
  activeFile: 12288,
  inactiveFile: 8192,
  workingSet: 393216,
  pageFaults: 8735,
  majorPageFaults: 2,
  limit: 79998976,
};

describe("cgroup v1", () => {
  const reader: CgroupReader = new CgroupReaderV1(V1, new KernelTree(V1_FILES).read, new KernelTree(V1_FILES).list);

  test("CPU usage is in nanoseconds", () => {
    deepEqual(reader.cpu("/p"), { usage: 113486564 });
  });

  test("memory includes child cgroups, page faults do not; a limit beyond all memory is none", () => {
    deepEqual(reader.memory("/p"), {
      ...MEMORY,
      rss: 114689,
      cache: 20481,
      mapped: 4097,
      activeFile: 12289,
      inactiveFile: 8193,
      workingSet: 393215,
      swap: 5,
    });
  });

  test("details have CPU, memory and block figures of a container", () => {
    deepEqual(reader.details("/p"), {
      user: 20_000_000,
      system: 80_000_000,
      kernelMemory: 266240,
      maxMemory: 2543616,
      memoryFailures: 3,
      oomEvents: 4,
      shares: 102,
      period: 100000,
      quota: 10000,
      periods: 7,
      throttledPeriods: 3,
      throttled: 900,
      burstPeriods: 1,
      burst: 11,
      block: [
        {
          device: "8:0",
          bytes: { Read: 4096, Write: 512, Sync: 0, Total: 4608 },
          served: { Read: 1, Write: 2 },
        },
      ],
      threads: 2,
    });
  });

  test("processes, child cgroups, and missing cgroups", () => {
    deepEqual(reader.processes("/p"), [12, 40]);
    deepEqual(reader.children("/p"), ["below"]);
    equal(reader.exists("/p"), true);
    equal(reader.exists("/q"), false);
    equal(reader.cpu("/q"), undefined);
    equal(reader.memory("/q"), undefined);
    deepEqual(reader.pressure("/p").io, NO_PRESSURES.io);
  });

  test("without swap accounting there is no swap limit, and its files are read once", () => {
    const swap = "/cg/memory/p/memory.memsw.usage_in_bytes";
    const files = Object.fromEntries(Object.entries(V1_FILES).filter(([path]) => path !== swap));
    const asked: string[] = [];
    const tree = new KernelTree(files);
    const read = (path: string): string | undefined => {
      asked.push(path);
      return tree.read(path);
    };
    const bare = new CgroupReaderV1(V1, read, tree.list);
    equal(bare.memory("/p")?.swapLimit, undefined);
    bare.memory("/p");
    equal(asked.filter((path) => path.includes("memsw")).length, 1);
  });
});

test("of blkio's files the first that names a device is believed", () => {
  const at = (path: string, files: Record<string, string>): Record<string, string> =>
    Object.fromEntries(Object.entries(files).map(([name, text]) => [`/b${path}/blkio.${name}`, text]));
  const throttle = { "throttle.io_service_bytes_recursive": "8:0 Read 1\nTotal 1\n" };
  const bfq = {
    "bfq.io_service_bytes_recursive": "8:0 Read 7\n8:0 Discard 2\nTotal 9\n",
    "bfq.io_serviced_recursive": "8:0 Read 3\n",
  };
  const debug = { "bfq.sectors_recursive": "8:0 12\n", "bfq.io_queued_recursive": "8:0 Total 2\n" };
  const empty = { "bfq.io_service_bytes_recursive": "Total 0\n" };
  const figures = (files: Record<string, string>) => new BlkioReader("/b", new KernelTree(files).read).figures("/p");
  const read = { bytes: { Read: 7, Discard: 2 }, served: { Read: 3 } };
  deepEqual(figures({ ...at("", { ...bfq, ...throttle }), ...at("/p", { ...bfq, ...throttle }) }), [
    { device: "8:0", ...read },
  ]);
  // The scheduler of this disk counts nothing.
  deepEqual(figures({ ...at("", { ...empty, ...throttle }), ...at("/p", { ...empty, ...throttle }) }), [
    { device: "8:0", bytes: { Read: 1 } },
  ]);
  deepEqual(figures({ ...at("", { ...bfq, ...debug }), ...at("/p", { ...bfq, ...debug }) }), [
    { device: "8:0", ...read, sectors: { "": 12 }, queued: { Total: 2 } },
  ]);
  deepEqual(figures({}), []);
  // A counter that no device of the machine has is not read from any cgroup.
  const asked: string[] = [];
  const tree = new KernelTree({ ...at("", empty), ...at("/p", bfq) });
  const reader = new BlkioReader("/b", (path) => {
    asked.push(path);
    return tree.read(path);
  });
  deepEqual(reader.figures("/"), []);
  deepEqual(reader.figures("/p"), []);
  deepEqual(
    asked.filter((path) => path.startsWith("/b/p/")),
    [],
  );
  Object.assign(tree.files, at("", bfq));
  deepEqual(reader.figures("/"), [{ device: "8:0", ...read }]);
  deepEqual(reader.figures("/p"), [{ device: "8:0", ...read }]);
});

describe("cgroup v2", () => {
  const files = {
    "/cg/p/cgroup.procs": "12\n",
    "/cg/p/cpu.stat":
      "usage_usec 113486\nuser_usec 20000\nsystem_usec 80000\nnr_periods 7\nnr_throttled 3\nthrottled_usec 9\nnr_bursts 1\nburst_usec 2\n",
    "/cg/p/cpu.max": "10000 100000\n",
    "/cg/p/cpu.weight": "4\n",
    "/cg/p/memory.stat": V2_STAT,
    "/cg/p/memory.current": "401408\n",
    "/cg/p/memory.max": "79998976\n",
    "/cg/p/memory.swap.max": "0\n",
    "/cg/p/memory.swap.current": "0\n",
    "/cg/p/memory.peak": "2543616\n",
    "/cg/p/memory.low": "4096\n",
    "/cg/p/memory.events": "low 0\nhigh 0\nmax 3\noom 0\noom_kill 4\n",
    "/cg/p/pids.current": "2\n",
    "/cg/p/pids.max": "100\n",
    "/cg/p/io.stat": "8:0 rbytes=4096 wbytes=512 rios=1 wios=2 dbytes=0 dios=0 cost.usage=5 cost.wait=6\n",
    "/cg/p/cpu.pressure":
      "some avg10=1.50 avg60=2.00 avg300=3.00 total=400\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
    "/cg/cpu.stat": "usage_usec 1\nuser_usec 1\nsystem_usec 0\n",
    "/cg/memory.stat": V2_STAT,
    "/proc/meminfo": "MemTotal:  1000 kB\nMemFree:    400 kB\n",
    "/proc/pressure/cpu": "some avg10=9.00 avg60=0.00 avg300=0.00 total=1\n",
  };
  const tree = new KernelTree(files);
  const reader = new CgroupReaderV2("/cg", tree.read, tree.list);

  test("CPU, memory and details", () => {
    deepEqual(reader.cpu("/p"), { usage: 113486000 });
    deepEqual(reader.memory("/p"), { ...MEMORY, swap: 0, swapLimit: 0 });
    deepEqual(reader.details("/p"), {
      user: 20_000_000,
      system: 80_000_000,
      kernelMemory: 266240,
      maxMemory: 2543616,
      memoryFailures: 3,
      oomEvents: 4,
      shares: 81,
      period: 100000,
      quota: 10000,
      periods: 7,
      throttledPeriods: 3,
      throttled: 9000,
      burstPeriods: 1,
      burst: 2000,
      memoryReservation: 4096,
      block: [
        {
          device: "8:0",
          bytes: { Read: 4096, Write: 512 },
          served: { Read: 1, Write: 2 },
          cost: { usage: 5, wait: 6, indebt: 0, indelay: 0 },
        },
      ],
      threads: 2,
      threadsMax: 100,
    });
  });

  test("the root has the machine's memory and pressure", () => {
    equal(reader.memory("/")?.usage, 600 * 1024);
    equal(reader.pressure("/").cpu.some.avg10, 9);
    deepEqual(reader.children("/"), ["p"]);
  });

  test("pressure is read per resource", () => {
    const { cpu, memory } = reader.pressure("/p");
    deepEqual(cpu, {
      some: { avg10: 1.5, avg60: 2, avg300: 3, total: 400 },
      full: { avg10: 0, avg60: 0, avg300: 0, total: 0 },
    });
    deepEqual(memory, NO_PRESSURES.io);
    deepEqual(parsePressure(""), NO_PRESSURES.io);
  });
});

test("numbers out of kernel files", () => {
  const table: [string | undefined, number | undefined][] = [
    ["12\n", 12],
    ["max\n", undefined],
    ["", undefined],
    ["\n", undefined],
    [undefined, undefined],
  ];
  for (const [text, expected] of table) equal(oneNumber(text), expected, String(text));
  equal(keyed("a 1\nb 2", "b"), 2);
  equal(keyed("a 1\nb 2", "a"), 1);
  equal(keyed("aa 1\nxa 2\n", "a"), undefined);
  equal(keyed("", "a"), undefined);
});
