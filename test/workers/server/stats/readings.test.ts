// Readings of cgroups that vanish meanwhile, under a clock that jumps.

import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import type { CgroupReader } from "../../../../src/shared/node/stats/cgroup-figures.js";
import { CgroupReaderV1 } from "../../../../src/shared/node/stats/cgroup/v1.js";
import { CgroupReaderV2 } from "../../../../src/shared/node/stats/cgroup/v2.js";
import type { ReadText } from "../../../../src/shared/node/stats/kernel-file.js";
import { PodCgroups } from "../../../../src/shared/node/stats/pod-cgroups.js";
import { Places } from "../../../../src/workers/server/stats/places.js";
import { Readings, type NodeReadings } from "../../../../src/workers/server/stats/readings.js";
import { KernelTree } from "../../../shared/node/stats/tree.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const ID = "a".repeat(64);
const POD_PATH = "/kubepods/besteffort/podu";
const STAT = "total_inactive_file 10\ninactive_file 10\nanon 1\n";
const POD: Pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", namespace: "n", uid: podUid("u") },
  spec: { containers: [{ name: "c", image: "i" }] },
  status: {
    phase: "Running",
    qosClass: "BestEffort",
    containerStatuses: [
      {
        name: "c",
        image: "i",
        imageID: "",
        ready: true,
        restartCount: 0,
        containerID: `containerd://${ID}`,
        state: { running: { startedAt: "2026-11-21T19:03:46Z" } },
        lastState: {},
      },
    ],
  },
};

function v1Files(path: string, cpuNanos: number): Record<string, string> {
  return {
    [`/cg/cpu,cpuacct${path}/cpuacct.usage`]: `${cpuNanos}\n`,
    [`/cg/memory${path}/cgroup.procs`]: "",
    [`/cg/memory${path}/memory.stat`]: STAT,
    [`/cg/memory${path}/memory.usage_in_bytes`]: "100\n",
  };
}

function v2Files(path: string, cpuNanos: number): Record<string, string> {
  return {
    [`/cg${path}/cpu.stat`]: `usage_usec ${cpuNanos / 1000}\n`,
    [`/cg${path}/cgroup.procs`]: "",
    [`/cg${path}/memory.stat`]: STAT,
    [`/cg${path}/memory.current`]: "100\n",
  };
}

const VERSIONS = {
  v1: {
    files: v1Files,
    reader: (read: ReadText, tree: KernelTree): CgroupReader =>
      new CgroupReaderV1(
        {
          version: 1,
          hierarchies: [
            { controllers: ["cpu", "cpuacct"], mountPoint: "/cg/cpu,cpuacct", root: "/" },
            { controllers: ["memory"], mountPoint: "/cg/memory", root: "/" },
          ],
        },
        read,
        tree.list,
      ),
  },
  v2: {
    files: v2Files,
    reader: (read: ReadText, tree: KernelTree): CgroupReader => new CgroupReaderV2("/cg", read, tree.list),
  },
} as const;

interface World {
  clock: SteppedClock;
  readings: Readings;
  /** CPU time of all cgroups. */
  run(nanos: number): void;
}

function world(version: keyof typeof VERSIONS, vanishes: (path: string) => boolean = () => false): World {
  const { files, reader: readerOf } = VERSIONS[version];
  const clock = new SteppedClock();
  const tree = new KernelTree({});
  const run = (nanos: number): void => {
    for (const path of ["", "/kubepods", POD_PATH, `${POD_PATH}/${ID}`]) Object.assign(tree.files, files(path, nanos));
    tree.files["/proc/meminfo"] = "MemTotal: 10 kB\nMemFree: 5 kB\n";
  };
  run(0);
  // The root of v1 is "/", that of paths is "".
  const read: ReadText = (path) => (vanishes(path) ? undefined : tree.read(path.replaceAll("//", "/")));
  const reader = readerOf(read, tree);
  const cgroups = new PodCgroups({ cgroupRoot: "/", cgroupsPerQOS: true }, reader);
  const readings = new Readings({
    pods: () => [POD],
    places: new Places({ cgroups, clock, found: () => undefined }),
    all: () => cgroups.all(),
    system: (all) => (all === undefined ? [] : [{ name: "pods", path: all }]),
    reader,
    clock,
    looked: () => undefined,
  });
  return { clock, readings, run };
}

async function look({ clock, readings }: World): Promise<NodeReadings> {
  clock.step(2000);
  return readings.now();
}

for (const version of ["v1", "v2"] as const) {
  test(`${version}: a file that vanishes during a reading leaves the reading usable, and the next one is complete`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { minLength: 1, maxLength: 60 }), async (fate) => {
        let at = 0;
        let unsteady = true;
        const here = world(version, () => unsteady && (fate[at++ % fate.length] ?? false));
        for (let i = 0; i < 3; i++) {
          for (const { reading, containers } of (await look(here)).pods) {
            for (const one of [reading, ...containers.map((each) => each.reading)]) {
              ok(one.cpu !== undefined || one.memory !== undefined);
            }
          }
        }
        unsteady = false;
        // At most one look later: the first may have met a place that is known to be stale.
        await look(here);
        const { pods, system } = await look(here);
        deepEqual(
          pods.map(({ containers }) =>
            containers.map(({ place, reading }) => [place.name, reading.memory?.workingSet]),
          ),
          [[["c", 90]]],
        );
        equal(system.length, 1);
        here.readings.close();
        return true;
      }),
      { numRuns: 60 },
    );
  });

  test(`${version}: a rate is the cgroup's usage for any step of the wall clock`, async () => {
    const here = world(version);
    const rateOf = async (): Promise<number | undefined> =>
      (await look(here)).pods[0]?.containers[0]?.reading.cpu?.rate;
    equal(await rateOf(), undefined);
    for (const [jump, nanos] of [
      [86_400_000, 1e9],
      [-7 * 86_400_000, 2e9],
      [3_600_000, 3e9],
    ] as const) {
      here.clock.jump(jump);
      here.run(nanos);
      equal(await rateOf(), 5e8);
    }
    here.readings.close();
  });
}
