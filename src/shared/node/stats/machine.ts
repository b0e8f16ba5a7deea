// Facts of the machine that the pages show: memory and its modules, swap, CPUs, identities, process limits.

import { cpus } from "node:os";
import { keyed, type ListDirectories, oneNumber, type ReadText } from "./kernel-file.js";

export interface MachineFacts {
  bootId: string;
  machineId: string;
  systemUuid: string;
  cores: number;
  physicalCores: number;
  sockets: number;
  /** Bytes. */
  memory: number;
  /** By type; none: the kernel has no driver for the memory controller. */
  memoryModules: readonly MemoryModules[];
  /** Bytes. */
  swap: number;
  kernelVersion: string;
  osVersion: string;
  /** Milliseconds since the epoch. */
  bootedAt: number;
}

/** The memory modules (DIMMs) of one type. */
interface MemoryModules {
  /** As the kernel names it: "Unbuffered-DDR4". */
  type: string;
  count: number;
  /** Bytes. */
  capacity: number;
}

const KIB = 1024;
const MIB = KIB * KIB;
const MEMORY_CONTROLLERS = "/sys/devices/system/edac/mc";

/** Facts that do not change while the machine runs; swap does, and `swapCapacity` reads it again. */
export function readMachineFacts(read: ReadText, list: ListDirectories): MachineFacts {
  const cpuinfo = read("/proc/cpuinfo") ?? "";
  const word = (path: string): string => (read(path) ?? "").trim();
  const machineId = word("/etc/machine-id") || word("/var/lib/dbus/machine-id");
  return {
    bootId: word("/proc/sys/kernel/random/boot_id"),
    machineId,
    systemUuid: word("/sys/class/dmi/id/product_uuid") || machineId,
    cores: cpus().length,
    ...topology(cpuinfo),
    memory: meminfo(read, "MemTotal"),
    memoryModules: memoryModules(read, list),
    swap: meminfo(read, "SwapTotal"),
    kernelVersion: word("/proc/sys/kernel/osrelease"),
    osVersion: prettyName(read("/etc/os-release") ?? ""),
    bootedAt: (keyed(read("/proc/stat") ?? "", "btime") ?? 0) * 1000,
  };
}

/** Bytes of a row of /proc/meminfo. */
export function meminfo(read: ReadText, row: string): number {
  const kib = new RegExp(`^${row}:\\s+(\\d+) kB$`, "m").exec(read("/proc/meminfo") ?? "")?.[1];
  return Number(kib ?? 0) * KIB;
}

/** A module without a readable type or size does not count. */
function memoryModules(read: ReadText, list: ListDirectories): MemoryModules[] {
  const types = new Map<string, MemoryModules>();
  for (const controller of list(MEMORY_CONTROLLERS).filter((name) => /^mc\d+$/.test(name))) {
    for (const module of list(`${MEMORY_CONTROLLERS}/${controller}`).filter((name) => /^dimm\d+$/.test(name))) {
      const path = `${MEMORY_CONTROLLERS}/${controller}/${module}`;
      const type = read(`${path}/dimm_mem_type`)?.trim();
      const size = oneNumber(read(`${path}/size`));
      if (type === undefined || size === undefined) continue;
      const { count, capacity } = types.get(type) ?? { count: 0, capacity: 0 };
      types.set(type, { type, count: count + 1, capacity: capacity + size * MIB });
    }
  }
  return [...types.values()];
}

export interface ProcessLimit {
  /** The largest number of processes there may be. */
  max: number | undefined;
  current: number | undefined;
}

export function readProcessLimit(read: ReadText): ProcessLimit {
  const limits = ["pid_max", "threads-max"].flatMap((name) => oneNumber(read(`/proc/sys/kernel/${name}`)) ?? []);
  // "0.20 0.18 0.12 1/80 11206": running of all.
  const all = /\/(\d+)/.exec(read("/proc/loadavg") ?? "")?.[1];
  return {
    max: limits.length === 0 ? undefined : Math.min(...limits),
    current: all === undefined ? undefined : Number(all),
  };
}

function topology(cpuinfo: string): { physicalCores: number; sockets: number } {
  const packages = new Set<string>();
  const cores = new Set<string>();
  let logical = 0;
  for (const block of cpuinfo.split("\n\n")) {
    const of = (key: string): string | undefined => new RegExp(`^${key}\\s*: (.*)$`, "m").exec(block)?.[1];
    if (of("processor") === undefined) continue;
    logical++;
    const socket = of("physical id") ?? "0";
    packages.add(socket);
    cores.add(`${socket}/${of("core id") ?? String(logical)}`);
  }
  return { physicalCores: Math.max(cores.size, 1), sockets: Math.max(packages.size, 1) };
}

function prettyName(osRelease: string): string {
  return /^PRETTY_NAME="?(.*?)"?$/m.exec(osRelease)?.[1] ?? "";
}
