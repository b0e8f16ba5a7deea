// Finds the processes of a killed run and ends them, and no others. A process is identified by pid and start time: pids
// are reused, start times are not.

import { readdir, readFile } from "node:fs/promises";
import { errnoOf } from "./problem.js";
import { sleep } from "./wait.js";

export interface ProcessInfo {
  pid: number;
  parent: number;
  /** Clock ticks since boot at which it started. */
  startTicks: number;
  /** `R`, `S`, `D`, `Z` … as in /proc/<pid>/stat. */
  state: string;
  args: string[];
}

/** Pid and start time: enough to recognize a process for certain. */
export type ProcessIdentity = Pick<ProcessInfo, "pid" | "startTicks">;

/** One process, or undefined when it is gone. */
export async function readProcess(pid: number): Promise<ProcessInfo | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    const args = (await readFile(`/proc/${pid}/cmdline`, "utf8")).split("\0").slice(0, -1);
    // The second field is the name in brackets and may hold anything: the fields we want follow its last bracket.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { pid, state: fields[0] ?? "?", parent: Number(fields[1]), startTicks: Number(fields[19]), args };
  } catch (error) {
    if (errnoOf(error) === "ENOENT" || errnoOf(error) === "ESRCH") return undefined;
    throw error;
  }
}

export async function listProcesses(): Promise<ProcessInfo[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const all = await Promise.all(pids.map(readProcess));
  return all.filter((process) => process !== undefined);
}

/** True while exactly this process lives; a zombie does not. */
export async function isAlive(identity: ProcessIdentity): Promise<boolean> {
  const now = await readProcess(identity.pid);
  return now !== undefined && now.startTicks === identity.startTicks && now.state !== "Z" && now.state !== "X";
}

/** The processes in `roots` and everything below them. */
export function withDescendants(all: readonly ProcessInfo[], roots: ReadonlySet<number>): ProcessInfo[] {
  const taken = new Set(roots);
  for (let grown = true; grown;) {
    grown = false;
    for (const { pid, parent } of all) {
      if (!taken.has(pid) && taken.has(parent)) grown = taken.add(pid).size > 0;
    }
  }
  return all.filter(({ pid }) => taken.has(pid));
}

/** Processes, this one aside, with an argument that is `directory` or a path below it. */
export async function processesUsing(directory: string): Promise<ProcessInfo[]> {
  const mentions = (argument: string): boolean =>
    argument === directory || argument.startsWith(`${directory}/`) || argument.includes(`=${directory}/`);
  return (await listProcesses()).filter(({ pid, args }) => pid !== process.pid && args.some(mentions));
}

/** Sends `signal` to each that still lives, waits for all to be gone. Returns those that are not. */
export async function signalAndWait(
  processes: readonly ProcessIdentity[],
  signal: NodeJS.Signals,
  timeoutMs: number,
): Promise<ProcessIdentity[]> {
  let left = await living(processes);
  for (const { pid } of left) sendSignal(pid, signal);
  const deadline = performance.now() + timeoutMs;
  while (left.length > 0 && performance.now() < deadline) {
    await sleep(10);
    left = await living(left);
  }
  return left;
}

/** kill(2) that takes "already gone" for an answer. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (errnoOf(error) !== "ESRCH") throw error;
  }
}

async function living(processes: readonly ProcessIdentity[]): Promise<ProcessIdentity[]> {
  const alive = await Promise.all(processes.map(isAlive));
  return processes.filter((_, index) => alive[index] === true);
}
