// Processes of pods, by /proc.
// Invariant: it reads at most MAX_PROCESSES processes; what it may not read, or what ends meanwhile, is left out.

import { readdir, readFile } from "node:fs/promises";
import type { Pod } from "../../shared/kubernetes/api/pod.js";
import { escapedLine } from "../output/escape.js";

const MAX_PROCESSES = 20_000;

export interface Process {
  pid: string;
  /** Text of /proc/<pid>/cgroup. */
  cgroup: string;
}

/** `proc`: "/proc"; another place in tests. */
export async function processesIn(proc: string): Promise<Process[]> {
  const pids = (await readdir(proc)).filter((name) => /^\d+$/.test(name)).slice(0, MAX_PROCESSES);
  return await Promise.all(pids.map(async (pid) => ({ pid, cgroup: await textOf(`${proc}/${pid}/cgroup`) })));
}

/** The cgroup of a pod has its UID, with the driver systemd with underscores. */
export function isOf({ cgroup }: Process, { metadata: { uid } }: Pod): boolean {
  return cgroup.includes(`pod${uid}`) || cgroup.includes(`pod${uid.replaceAll("-", "_")}`);
}

/** The process's name, for a terminal. */
export async function commandOf(proc: string, pid: string): Promise<string> {
  return escapedLine((await textOf(`${proc}/${pid}/comm`)).trim(), 32);
}

export function textOf(path: string): Promise<string> {
  return orNone(readFile(path, "utf8"), "");
}

/** A process ends at any time, and others' belong to root: what cannot be read is no evidence. */
export async function orNone<T>(read: Promise<T>, none: T): Promise<T> {
  try {
    return await read;
  } catch {
    return none;
  }
}
