// Reading small files that the kernel makes up: /sys/fs/cgroup and /proc. Synchronous on purpose: no read there waits
// for a disk. A read takes 10 µs; through the thread pool it would take ten times as long (docs/adr/0029). Who reads
// many of them takes breath in between (breath.ts).

import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";

/** The file's text; undefined: there is none, or it cannot be read now. */
export type ReadText = (path: string) => string | undefined;
/** Names of the directories in it; none when it does not exist. */
export type ListDirectories = (path: string) => readonly string[];

export const readKernelText: ReadText = (path) => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // The cgroup or process went away, or the kernel has no such file: either way there is nothing to show.
    return undefined;
  }
};

export const listKernelDirectories: ListDirectories = (path) => {
  try {
    return readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch {
    return [];
  }
};

/** The targets of a process's open files; none when the process has exited. */
export function listOpenFiles(pid: number | string): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => linkTarget(`/proc/${pid}/fd/${fd}`));
  } catch {
    // It ended.
    return [];
  }
}

/** Milliseconds since the epoch; undefined: it does not exist. */
export function modifiedAt(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}

function linkTarget(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    // Closed in between.
    return "";
  }
}

/** A file of one number; "max" and a missing file yield undefined. */
export function oneNumber(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  return text.trim() === "" || !Number.isFinite(value) ? undefined : value;
}

/** The number after a key that begins a line: "key 123". */
export function keyed(text: string, key: string): number | undefined {
  const at = text.startsWith(`${key} `) ? 0 : text.indexOf(`\n${key} `) + 1;
  if (at === 0 && !text.startsWith(`${key} `)) return undefined;
  const from = at + key.length + 1;
  const end = text.indexOf("\n", from);
  return oneNumber(text.slice(from, end < 0 ? undefined : end));
}
