// A sample of the machine, under both versions of cgroups and both drivers.

import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "node:test";
import { CgroupReaderV1 } from "../../../src/shared/node/stats/cgroup/v1.js";
import { CgroupReaderV2 } from "../../../src/shared/node/stats/cgroup/v2.js";
import { PodCgroups } from "../../../src/shared/node/stats/pod-cgroups.js";
import { Machine } from "../../../src/workers/eviction/machine.js";
import { KernelTree } from "../../shared/node/stats/tree.js";
import { SteppedClock } from "../../support/stepped-clock.js";

const PROC = {
  "/proc/meminfo": "MemTotal:        1000 kB\nMemFree:          400 kB\n",
  "/proc/loadavg": "0.20 0.18 0.12 1/80 11206\n",
  "/proc/sys/kernel/pid_max": "100\n",
  "/proc/sys/kernel/threads-max": "90\n",
  "/proc/pressure/memory":
    "some avg10=0.00 avg60=0.00 avg300=0.00 total=4711\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1\n",
};
const V1 = {
  "/cg//memory.stat": "total_inactive_file 1024\n",
  "/cg//memory.usage_in_bytes": "301024\n",
  "/cg/kubepods/cgroup.procs": "",
  "/cg/kubepods/memory.stat": "total_inactive_file 50\n",
  "/cg/kubepods/memory.usage_in_bytes": "150\n",
  "/cg/kubepods/memory.limit_in_bytes": "800\n",
};
const V2 = {
  "/cg/memory.stat": "inactive_file 4400\n",
  "/cg/kubepods.slice/cgroup.procs": "",
  "/cg/kubepods.slice/memory.stat": "inactive_file 50\n",
  "/cg/kubepods.slice/memory.current": "150\n",
  "/cg/kubepods.slice/memory.max": "800\n",
};

const machineOf = (version: 1 | 2, tree: KernelTree): Machine => {
  const reader =
    version === 1
      ? new CgroupReaderV1(
          { version, hierarchies: [{ controllers: ["memory"], mountPoint: "/cg", root: "/" }] },
          tree.read,
          tree.list,
        )
      : new CgroupReaderV2("/cg", tree.read, tree.list);
  const cgroups = new PodCgroups({ cgroupRoot: "/", cgroupsPerQOS: true }, reader);
  return new Machine({ reader, cgroups, read: tree.read, clock: new SteppedClock() });
};

describe("a look", () => {
  for (const [version, files, workingSet] of [
    [1, V1, 300_000],
    [2, V2, 610_000],
  ] as const) {
    test(`at cgroup v${version}`, () => {
      deepEqual(machineOf(version, new KernelTree({ ...PROC, ...files })).sample(), {
        at: 0,
        memory: { capacity: 1_024_000, workingSet },
        allocatable: { capacity: 800, workingSet: 100 },
        processes: { max: 90, current: 80 },
        stalledMicros: 4711,
      });
    });
  }

  test("at pods' cgroups without a limit, that go, and come back by another driver's name", () => {
    const tree = new KernelTree({ ...PROC, ...V2, "/cg/kubepods.slice/memory.max": "max\n" });
    const machine = machineOf(2, tree);
    equal(machine.sample().allocatable, undefined);
    for (const file of Object.keys(V2)) if (file.includes("kubepods")) Reflect.deleteProperty(tree.files, file);
    equal(machine.sample().allocatable, undefined);
    for (const [file, text] of Object.entries(V2)) tree.files[file.replace("kubepods.slice", "kubepods")] = text;
    deepEqual(machine.sample().allocatable, { capacity: 800, workingSet: 100 });
  });

  test("on a kernel without notifications", () => {
    deepEqual(machineOf(1, new KernelTree({})).sample(), {
      at: 0,
      memory: undefined,
      allocatable: undefined,
      processes: { max: undefined, current: undefined },
      stalledMicros: undefined,
    });
  });
});
