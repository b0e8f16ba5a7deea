// Reads the machine's topology from sysfs: CPUs, cores, sockets, cache groups and NUMA nodes; where the kernel has no
// such folders (virtual machines, sandboxes), from /proc. Invariant: only CPUs that are online count, each in exactly
// one core, socket, cache group and NUMA node.
// Source: https://docs.kernel.org/admin-guide/cputopology.html, sysfs-devices-node and sysfs-devices-system-cpu of its
// ABI

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { OperatorError } from "../../../shared/base/errors/operator-error.js";
import { parseCpuList } from "../../../shared/kubernetes/api/cpu-list.js";
import type { MachineTopology, TopologyCpu } from "./machine-topology.js";
import { readNumaNodes } from "./numa-nodes.js";

/** @param root the folder that holds sys and proc. Rejects with OperatorError. */
export async function readMachineTopology(root = "/"): Promise<MachineTopology> {
  const folder = join(root, "sys/devices/system/cpu");
  const described = await describedCpus(join(root, "proc/cpuinfo"));
  const listed = parseCpuList((await textOf(join(folder, "online"))) ?? "") ?? [];
  const online = listed.length > 0 ? listed : [...described.keys()].sort((a, b) => a - b);
  if (online.length === 0)
    throw new OperatorError(
      `no CPU is named by ${join(root, "sys/devices/system/cpu/online")} or ${join(root, "proc/cpuinfo")}: CPUs can't be ` +
        `allocated; mount /sys and /proc, or set cpuManagerPolicy: none`,
    );
  const numaNodes = await readNumaNodes(root, online);
  const nodeOf = new Map(numaNodes.flatMap(({ id, cpus }) => cpus.map((cpu) => [cpu, id] as const)));
  const first = numaNodes[0]?.id ?? 0;
  const caches = new Map<number, number>();
  const cpus: TopologyCpu[] = [];
  for (const id of online) {
    const { core, socket } = (await sysfsPlace(folder, id, online)) ?? procPlace(id, described);
    if (!caches.has(id)) await groupByCache(join(folder, `cpu${id}/cache`), id, online, caches);
    const uncoreCache = caches.get(id);
    cpus.push({ id, core, socket, numaNode: nodeOf.get(id) ?? first, uncoreCache: uncoreCache ?? -1 });
  }
  return { cpus: cpus.map((cpu) => (cpu.uncoreCache < 0 ? withSocketAsCache(cpu, cpus) : cpu)), numaNodes };
}

type Place = Pick<TopologyCpu, "core" | "socket">;

/** core_cpus_list is the name since Linux 5.4, thread_siblings_list before it. */
async function sysfsPlace(folder: string, id: number, online: readonly number[]): Promise<Place | undefined> {
  const topology = join(folder, `cpu${id}/topology`);
  const [socket, siblings] = await Promise.all([
    textOf(join(topology, "physical_package_id")),
    textOf(join(topology, "core_cpus_list")).then(
      async (text) => text ?? (await textOf(join(topology, "thread_siblings_list"))),
    ),
  ]);
  if (socket === undefined || siblings === undefined) return undefined;
  return { core: lowest(siblings, id, online), socket: Math.max(0, Number(socket)) };
}

function procPlace(id: number, described: ReadonlyMap<number, CpuDescription>): Place {
  const own = described.get(id);
  if (own?.core === undefined) return { core: id, socket: own?.socket ?? 0 };
  const same = [...described].filter(([, other]) => other.core === own.core && other.socket === own.socket);
  return { core: Math.min(...same.map(([cpu]) => cpu)), socket: own.socket };
}

/** Adds the CPUs that share the last-level cache of CPU `id`: to CPU the lowest one of its group. */
async function groupByCache(
  folder: string,
  id: number,
  online: readonly number[],
  into: Map<number, number>,
): Promise<void> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => /^index\d+$/.test(name));
  const caches = await Promise.all(
    names.map(async (name) => ({
      level: Number((await textOf(join(folder, name, "level"))) ?? 0),
      shared: (await textOf(join(folder, name, "shared_cpu_list"))) ?? "",
    })),
  );
  const last = caches.toSorted((a, b) => b.level - a.level)[0];
  if (last === undefined) return;
  const group = new Set(parseCpuList(last.shared));
  const members = online.filter((cpu) => cpu === id || group.has(cpu));
  for (const cpu of members) if (!into.has(cpu)) into.set(cpu, members[0] ?? id);
}

/** A machine that reports no caches has one for each socket. */
function withSocketAsCache(cpu: TopologyCpu, all: readonly TopologyCpu[]): TopologyCpu {
  return { ...cpu, uncoreCache: all.find(({ socket }) => socket === cpu.socket)?.id ?? cpu.id };
}

interface CpuDescription {
  socket: number;
  /** Numbered within the socket; not every architecture has it. */
  core: number | undefined;
}

async function describedCpus(path: string): Promise<Map<number, CpuDescription>> {
  const found = new Map<number, CpuDescription>();
  for (const block of ((await textOf(path)) ?? "").split(/\n\s*\n/)) {
    const field = (name: string): number | undefined => {
      const text = new RegExp(`^${name}\\s*:\\s*(\\d+)\\s*$`, "m").exec(block)?.[1];
      return text === undefined ? undefined : Number(text);
    };
    const id = field("processor");
    if (id !== undefined) found.set(id, { socket: field("physical id") ?? 0, core: field("core id") });
  }
  return found;
}

function lowest(list: string, id: number, online: readonly number[]): number {
  const members = new Set(parseCpuList(list));
  return online.find((cpu) => members.has(cpu)) ?? id;
}

/** Undefined if it can't be read: an absent file is a valid result here. */
async function textOf(path: string): Promise<string | undefined> {
  const text = await readFile(path, "utf8").catch(() => undefined);
  return text?.trim();
}
