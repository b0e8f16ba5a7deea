// Cost of a process: resident memory, processor time, open files and threads, from /proc.
import { readdir, readFile } from "node:fs/promises";

const TICKS_PER_SECOND = 100;

export interface Usage {
  rssMiB: number;
  /** Of that what no file backs: heaps, stacks, malloc. */
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
    anonymousMiB: mib("RssAnon"),
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
    openFiles: files.length,
    threads: Number(/Threads:\s+(\d+)/.exec(status)?.[1] ?? 0),
  };
}
