// File operations on cgroup directories that both kernel interfaces share. A cgroup directory is made with mkdir, gone
// with rmdir (never rm -r: its files are the kernel's), and its values are one-line files.

import { mkdir, open, readdir, readFile, rmdir, stat } from "node:fs/promises";
import { CgroupWriteError, errnoOf } from "./cgroup-errors.js";
import type { CgroupWrite } from "./cgroup-values.js";

/** Called for writes that the kernel does not permit here; see `writeValue`. */
export type OnRefused = (path: string, value: string, error: unknown) => void;

/** "missing": the parent is not there. */
export async function makeDirectory(directory: string): Promise<"made" | "existed" | "missing"> {
  try {
    await mkdir(directory, 0o755);
    return "made";
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return "existed";
    if (errnoOf(error) === "ENOENT") return "missing";
    throw error;
  }
}

/**
 * Writes a value. A file that is absent (kernel without that feature) or not permitted (no CAP_SYS_RESOURCE, read-only
 * delegation) is reported to `onRefused` and skipped. @throws CgroupWriteError for values the kernel rejects.
 */
export async function writeValue(path: string, value: string, onRefused: OnRefused): Promise<void> {
  try {
    // O_WRONLY without O_CREAT or O_TRUNC: one open, one write, one close.
    const file = await open(path, "r+");
    try {
      await file.write(value);
    } finally {
      await file.close();
    }
  } catch (error) {
    const code = errnoOf(error);
    if (code !== "ENOENT" && code !== "EACCES" && code !== "EPERM") throw new CgroupWriteError(path, value, error);
    onRefused(path, value, error);
  }
}

/** Writes one value of the cgroup. Throws as writeValue does. */
export async function applyWrite(directory: string, write: CgroupWrite, onRefused: OnRefused): Promise<void> {
  const { file, value, optional } = write;
  await writeValue(`${directory}/${file}`, value, (path, text, error) => {
    if (optional !== true || errnoOf(error) !== "ENOENT") onRefused(path, text, error);
  });
}

/** The value without its newline, or undefined when the file is not there. */
export async function readValue(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, "utf8")).trim();
  } catch (error) {
    if (errnoOf(error) === "ENOENT" || errnoOf(error) === "ENODEV") return undefined;
    throw error;
  }
}

/** Names of child cgroups; [] when the cgroup is not there. */
export async function childCgroups(directory: string): Promise<string[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
}

/** Is the cgroup there? */
export async function isDirectory(directory: string): Promise<boolean> {
  return stat(directory).then(
    () => true,
    () => false,
  );
}

/** This cgroup and all below it, deepest first. */
export async function subtree(directory: string): Promise<string[]> {
  const below = await Promise.all((await childCgroups(directory)).map((name) => subtree(`${directory}/${name}`)));
  return [...below.flat(), directory];
}

/** PIDs in the cgroup itself; those of other PID namespaces (shown as 0) are left out. */
export async function processesIn(directory: string): Promise<number[]> {
  const text = (await readValue(`${directory}/cgroup.procs`)) ?? "";
  return text
    .split("\n")
    .map(Number)
    .filter((pid) => pid > 0);
}

/** Moves a process with all its threads. Rejects with the kernel's error. */
export async function moveProcess(directory: string, pid: number): Promise<void> {
  const file = await open(`${directory}/cgroup.procs`, "r+");
  try {
    await file.write(String(pid));
  } finally {
    await file.close();
  }
}

/** True when the cgroup does not exist afterwards, false when it has processes or children. */
export async function removeDirectory(directory: string): Promise<boolean> {
  try {
    await rmdir(directory);
    return true;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return true;
    if (errnoOf(error) === "EBUSY" || errnoOf(error) === "ENOTEMPTY") return false;
    throw error;
  }
}
