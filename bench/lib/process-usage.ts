// Cost of a process: resident memory, processor time, open files and threads, from /proc.

import { readdir, readFile } from "node:fs/promises";

const TICKS_PER_SECOND = 100;

export interface Usage {
  rssMiB: number;
  /** The highest rssMiB so far. */
  peakMiB: number;
  /** The part of rssMiB that no file backs: heaps, stacks, malloc. */
  anonymousMiB: number;
  cpuSeconds: number;
  openFiles: number;
  threads: number;
}

export async function usageOf(pid: number): Promise<Usage> {
  const [status, stat, files] = await Promise.all([
    readFile(`/proc/${pid}/status`, "utf8"),
    readFile(`/proc/${pid}/stat`, "utf8"),
    readdir(`/proc/${pid}/fd`),
  ]);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const mib = (field: string): number =>
    Math.round(Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 102.4) / 10;
  return {
    rssMiB: mib("VmRSS"),
    peakMiB: mib("VmHWM"),
    anonymousMiB: mib("RssAnon"),
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
    openFiles: files.length,
    threads: Number(/Threads:\s+(\d+)/.exec(status)?.[1] ?? 0),
  };
}

/** How often threads of the process went to sleep, of those that run now. */
export async function contextSwitchesOf(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`);
  const counts = threads.map(async (thread) => {
    const status = await readFile(`/proc/${pid}/task/${thread}/status`, "utf8").catch(() => "");
    return Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1] ?? 0);
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

const NS_PER_MS = 1e6;

/** Processor time of all threads that run now, ms, by the scheduler's clock: a tick of `usageOf` is 10 ms. */
export async function threadTimeOf(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`);
  const times = threads.map(async (thread) => {
    const text = await readFile(`/proc/${pid}/task/${thread}/schedstat`, "utf8").catch(() => "");
    return Number(text.split(" ")[0]) / NS_PER_MS;
  });
  return (await Promise.all(times)).reduce((sum, ms) => sum + ms, 0);
}
