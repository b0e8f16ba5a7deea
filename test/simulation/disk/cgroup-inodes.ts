// Directories of cgroup v2: a new one has the kernel's files, takes limits, and can be removed only without children
// and processes. Nothing of it survives the machine.

import { Inode } from "./inode.js";

/** File system of such directories. */
export const CGROUPS = "cgroup2";

const CONTROLLERS = "cpuset cpu io memory hugetlb pids";

/** Files that take a value, with the kernel's own. */
const VALUES: Readonly<Record<string, string>> = {
  "cpu.weight": "100",
  "cpu.max": "max 100000",
  "cpuset.cpus": "",
  "memory.max": "max",
  "memory.min": "0",
  "memory.low": "0",
  "memory.high": "max",
  "memory.swap.max": "max",
  "memory.oom.group": "0",
  "pids.max": "max",
};

/** Files that are read only. */
const FIGURES: Readonly<Record<string, string | ((directory: Inode) => string)>> = {
  "cgroup.controllers": CONTROLLERS,
  "cpu.stat": "usage_usec 1000000",
  "memory.current": (directory) => `${memoryBelow(directory)}`,
  "memory.stat": (directory) => `anon ${memoryBelow(directory)}\ninactive_file 0`,
  "memory.events": "oom 0\noom_kill 0",
  "pids.current": "1",
};

/** More than the machine's pid_max: no process of the real machine has such a number. */
const FIRST_PID = 10_000_000;
let pids = 0;

/** Bytes that a cgroup uses on a node where the use of containers is not simulated. */
const USUAL_BYTES = 1_000_000;
/** Bytes that a container or sandbox uses. */
let memoryOf: ((id: string) => number) | undefined;

/** Processes of a container or sandbox; undefined: one. */
let processesOf: ((id: string) => number) | undefined;
/** Between the first process of a container and its second. */
const NEXT_PID = 1_000_000_000;

/** Pids by the id of their container or sandbox. */
const inside = new WeakMap<Inode, Map<string, number>>();
const killers = new Set<(id: string) => void>();

/** `kill` is called for each container and sandbox of a cgroup that is killed. */
export function onCgroupKill(kill: (id: string) => void): void {
  killers.add(kill);
}

/** From now on a container or sandbox uses as many bytes as `use` returns. */
export function simulateMemory(use: (id: string) => number): void {
  memoryOf = use;
}

/** From now on a container or sandbox has as many processes as `count` returns. */
export function simulateProcesses(count: (id: string) => number): void {
  processesOf = count;
}

/** The first of a member is its main process. */
function pidsOf([id, first]: [string, number]): number[] {
  return Array.from({ length: processesOf?.(id) ?? 1 }, (_, index) => first + index * NEXT_PID);
}

function memoryBelow(directory: Inode): number {
  const use = memoryOf;
  return use === undefined ? USUAL_BYTES : membersBelow(directory).reduce((sum, id) => sum + use(id), 0);
}

/** Makes a new directory a cgroup. */
export function fillCgroup(directory: Inode): void {
  const members = new Map<string, number>();
  inside.set(directory, members);
  const file = (name: string, text: () => string, written?: (text: string) => void): void => {
    const made = new Inode("file", written === undefined ? 0o444 : 0o644, CGROUPS);
    made.text = () => `${text()}\n`;
    made.written = written;
    directory.entries.set(name, made);
  };
  for (const [name, first] of Object.entries(VALUES)) {
    let value = first;
    file(
      name,
      () => value,
      (text) => {
        value = text.trim();
      },
    );
  }
  for (const [name, text] of Object.entries(FIGURES)) {
    file(name, typeof text === "string" ? () => text : () => text(directory));
  }
  const given = new Set<string>();
  file(
    "cgroup.subtree_control",
    () => [...given].join(" "),
    (text) => {
      for (const word of text.trim().split(" ")) {
        if (word.startsWith("+")) given.add(word.slice(1));
        else given.delete(word.slice(1));
      }
    },
  );
  file("cgroup.procs", () => [...members].flatMap((member) => pidsOf(member)).join("\n"));
  file(
    "cgroup.kill",
    () => "",
    () => {
      for (const id of membersBelow(directory)) for (const kill of killers) kill(id);
    },
  );
}

/** The processes of a container or sandbox are in this cgroup from now on. */
export function enterCgroup(directory: Inode, id: string): void {
  inside.get(directory)?.set(id, FIRST_PID + ++pids);
}

export function leaveCgroup(directory: Inode, id: string): void {
  inside.get(directory)?.delete(id);
}

/** Whether rmdir(2) fails with EBUSY. */
export function isBusyCgroup(directory: Inode): boolean {
  return (inside.get(directory)?.size ?? 0) > 0 || childrenOf(directory).length > 0;
}

/** The machine starts anew: only the root is left, empty. */
export function clearCgroups(root: Inode): void {
  for (const [name, { kind }] of root.entries) if (kind === "directory") root.entries.delete(name);
}

function childrenOf(directory: Inode): Inode[] {
  return [...directory.entries.values()].filter(({ kind }) => kind === "directory");
}

function membersBelow(directory: Inode): string[] {
  return [...(inside.get(directory)?.keys() ?? []), ...childrenOf(directory).flatMap((child) => membersBelow(child))];
}
