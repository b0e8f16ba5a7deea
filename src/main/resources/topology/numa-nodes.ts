// Reads the NUMA nodes of the machine. A kernel without NUMA has one node, 0, with everything.
// Source: https://docs.kernel.org/admin-guide/mm/numaperf.html, sysfs-devices-node of its ABI

import { readdir, readFile } from "fs/promises";
import { join } from "path/posix";
import { parseCpuList } from "../../../shared/kubernetes/api/cpu-list.js";
import type { NumaNode } from "./machine-topology.js";

const KIB = 1024n;
/** As the kernel counts: to itself. */
const LOCAL_DISTANCE = 10;

/** @param online CPUs, ascending. At least one node, ascending by id. */
export async function readNumaNodes(root: string, online: readonly number[]): Promise<NumaNode[]> {
  const folder = join(root, "sys/devices/system/node");
  const ids = (await namesIn(folder))
    .flatMap((name) => /^node(\d+)$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
  const nodes = await Promise.all(ids.map((id) => readNode(folder, id, ids, online)));
  if (nodes.some(({ cpus }) => cpus.length > 0)) return nodes;
  return [
    {
      id: 0,
      cpus: [...online],
      memoryBytes: totalOf(await textOrEmpty(join(root, "proc/meminfo"))),
      hugePages: await hugePagesIn(join(root, "sys/kernel/mm/hugepages")),
      distances: new Map([[0, LOCAL_DISTANCE]]),
    },
  ];
}

async function readNode(
  folder: string,
  id: number,
  ids: readonly number[],
  online: readonly number[],
): Promise<NumaNode> {
  const own = join(folder, `node${id}`);
  const [cpuList, meminfo, distance, hugePages] = await Promise.all([
    textOrEmpty(join(own, "cpulist")),
    textOrEmpty(join(own, "meminfo")),
    textOrEmpty(join(own, "distance")),
    hugePagesIn(join(own, "hugepages")),
  ]);
  const cpus = new Set(parseCpuList(cpuList));
  const measured = distance.split(/\s+/).map(Number);
  return {
    id,
    cpus: online.filter((cpu) => cpus.has(cpu)),
    memoryBytes: totalOf(meminfo),
    hugePages,
    // One figure for each node that is online, in their order.
    distances: new Map(
      ids.map((other, at) => [other, measured[at] || (other === id ? LOCAL_DISTANCE : 2 * LOCAL_DISTANCE)]),
    ),
  };
}

/** "Node 0 MemTotal:  8011836 kB" of a node, "MemTotal:  8011836 kB" of the machine. */
function totalOf(meminfo: string): bigint {
  const kib = /MemTotal:\s*(\d+)\s*kB/.exec(meminfo)?.[1];
  return kib === undefined ? 0n : BigInt(kib) * KIB;
}

async function hugePagesIn(folder: string): Promise<Map<bigint, bigint>> {
  const pools = (await namesIn(folder)).flatMap((name) => {
    const kib = /^hugepages-(\d+)kB$/.exec(name)?.[1];
    return kib === undefined ? [] : [{ name, size: BigInt(kib) * KIB }];
  });
  const sized = await Promise.all(
    pools.map(async ({ name, size }) => {
      const pages = /^\d+$/.exec(await textOrEmpty(join(folder, name, "nr_hugepages")))?.[0];
      return [size, BigInt(pages ?? 0) * size] as const;
    }),
  );
  return new Map(sized.sort(([a], [b]) => (a < b ? -1 : 1)));
}

async function namesIn(folder: string): Promise<string[]> {
  return await readdir(folder).catch(() => []);
}

/** "" if it can't be read: an absent file is a valid result here. */
async function textOrEmpty(path: string): Promise<string> {
  return (await readFile(path, "utf8").catch(() => "")).trim();
}
