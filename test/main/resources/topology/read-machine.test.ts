// The machine's topology out of made-up sysfs and /proc.

import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { readMachineTopology } from "../../../../src/main/resources/topology/read-machine.js";
import { OperatorError } from "../../../../src/shared/base/errors/operator-error.js";
import { temporaryFolder } from "../../../support/sources-kit.js";

async function rootWith(t: TestContext, files: Readonly<Record<string, string>>): Promise<string> {
  const root = await temporaryFolder(t);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), `${text}\n`);
  }
  return root;
}

const CPU = "sys/devices/system/cpu";
const NODE = "sys/devices/system/node";

/** Two sockets, each a NUMA node of two cores with two threads; every core has a cache, every socket a larger one. */
function twoSockets(): Record<string, string> {
  const files: Record<string, string> = { [`${CPU}/online`]: "0-7" };
  for (let id = 0; id < 8; id++) {
    const [core, socket] = [id % 4, id % 4 < 2 ? 0 : 1];
    const own = `${CPU}/cpu${id}`;
    files[`${own}/topology/physical_package_id`] = String(socket);
    files[`${own}/topology/core_cpus_list`] = `${core},${core + 4}`;
    files[`${own}/cache/index0/level`] = "1";
    files[`${own}/cache/index0/shared_cpu_list`] = `${core},${core + 4}`;
    files[`${own}/cache/index3/level`] = "3";
    files[`${own}/cache/index3/shared_cpu_list`] = socket === 0 ? "0-1,4-5" : "2-3,6-7";
  }
  for (const id of [0, 1]) {
    const own = `${NODE}/node${id}`;
    files[`${own}/cpulist`] = id === 0 ? "0-1,4-5" : "2-3,6-7";
    files[`${own}/meminfo`] = `Node ${id} MemTotal:       ${1024 * (id + 1)} kB\nNode ${id} MemFree:  1 kB`;
    files[`${own}/distance`] = id === 0 ? "10 21" : "21 10";
    files[`${own}/hugepages/hugepages-2048kB/nr_hugepages`] = String(id * 3);
  }
  return files;
}

test("sockets, cores with threads, caches, NUMA nodes with memory and huge pages", async (t) => {
  const { cpus, numaNodes } = await readMachineTopology(await rootWith(t, twoSockets()));
  assert.deepEqual(
    cpus.map(({ id, core, socket, numaNode, uncoreCache }) => [id, core, socket, numaNode, uncoreCache]),
    [0, 1, 2, 3, 4, 5, 6, 7].map((id) => {
      const far = id % 4 > 1 ? 1 : 0;
      return [id, id % 4, far, far, far * 2];
    }),
  );
  const [first, second] = numaNodes;
  assert.deepEqual([first?.cpus, first?.memoryBytes, first?.distances.get(1)], [[0, 1, 4, 5], 1024n * 1024n, 21]);
  assert.deepEqual([...(second?.hugePages ?? [])], [[2n << 20n, 3n * (2n << 20n)]]);
});

test("a CPU that is offline is in no group", async (t) => {
  const root = await rootWith(t, { ...twoSockets(), [`${CPU}/online`]: "1-6" });
  const { cpus, numaNodes } = await readMachineTopology(root);
  assert.deepEqual(
    cpus.map(({ id, core, uncoreCache }) => [id, core, uncoreCache]),
    [
      [1, 1, 1],
      [2, 2, 2],
      [3, 3, 2],
      [4, 4, 1],
      [5, 1, 1],
      [6, 2, 2],
    ],
  );
  assert.deepEqual(
    numaNodes.map((node) => node.cpus),
    [
      [1, 4, 5],
      [2, 3, 6],
    ],
  );
});

test("neither NUMA nor caches: one node, a cache for each socket", async (t) => {
  const files = Object.entries(twoSockets()).filter(([path]) => !path.startsWith(NODE) && !path.includes("/cache/"));
  const root = await rootWith(t, {
    ...Object.fromEntries(files),
    "proc/meminfo": "MemTotal:        4096 kB",
    "sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages": "2",
  });
  const { cpus, numaNodes } = await readMachineTopology(root);
  assert.deepEqual([...new Set(cpus.map(({ socket, uncoreCache }) => `${socket}: ${uncoreCache}`))], ["0: 0", "1: 2"]);
  assert.deepEqual(numaNodes, [
    {
      id: 0,
      cpus: [0, 1, 2, 3, 4, 5, 6, 7],
      memoryBytes: 4n << 20n,
      hugePages: new Map([[1n << 30n, 2n << 30n]]),
      distances: new Map([[0, 10]]),
    },
  ]);
});

test("no sysfs: from /proc/cpuinfo, with or without its cores", async (t) => {
  const block = (id: number, more = ""): string => `processor\t: ${id}\nmodel name\t: x\n${more}`;
  const full = [0, 1, 2, 3].map((id) => block(id, `physical id\t: ${id >> 1}\ncore id\t\t: 0`));
  const threads = await readMachineTopology(await rootWith(t, { "proc/cpuinfo": full.join("\n\n") }));
  const bare = await readMachineTopology(await rootWith(t, { "proc/cpuinfo": [block(0), block(1)].join("\n\n") }));
  const shown = ({ cpus }: typeof bare) => cpus.map(({ core, socket, numaNode }) => [core, socket, numaNode]);
  assert.deepEqual(shown(threads), [
    [0, 0, 0],
    [0, 0, 0],
    [2, 1, 0],
    [2, 1, 0],
  ]);
  assert.deepEqual(shown(bare), [
    [0, 0, 0],
    [1, 0, 0],
  ]);
});

test("a machine that says nothing is no machine", async (t) => {
  await assert.rejects(readMachineTopology(await temporaryFolder(t)), OperatorError);
});

test("the topology of this machine can be read", async () => {
  const { cpus, numaNodes } = await readMachineTopology();
  assert.ok(cpus.length > 0);
  assert.deepEqual(
    numaNodes.flatMap((node) => node.cpus).sort((a, b) => a - b),
    cpus.map(({ id }) => id),
  );
  assert.ok(numaNodes.every(({ memoryBytes, distances, id }) => memoryBytes > 0n && distances.get(id) === 10));
});
