// Containers live in cgroups, which stay behind when a runtime is killed. On cgroup v1 each controller has its own
// tree, on v2 there is one tree, and hybrid machines have both.
// Invariant: only cgroups at or below the path asked for are touched, never the root.

import { readdir, readFile, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "./problem.js";
import { waitFor } from "./wait.js";

/** Mount points of every cgroup tree: one on v2, one per controller on v1. */
export async function cgroupTrees(): Promise<string[]> {
  return (await readFile("/proc/self/mountinfo", "utf8"))
    .split("\n")
    .filter((line) => / - cgroup2? /.test(line))
    .map((line) => line.split(" ")[4])
    .filter((point) => point !== undefined);
}

/** Folders of the cgroup `path` (`/nodelet-1a2b`) and everything below it, in all trees, deepest first. */
export async function cgroupFolders(path: string): Promise<string[]> {
  if (!/^\/[^/]/.test(path)) throw new Error(`not a cgroup below the root: ${JSON.stringify(path)}`);
  const folders: string[] = [];
  const visit = async (folder: string): Promise<void> => {
    const entries = await ifPresent(readdir(folder, { withFileTypes: true }));
    if (entries === undefined) return;
    for (const entry of entries) if (entry.isDirectory()) await visit(join(folder, entry.name));
    folders.push(folder);
  };
  for (const tree of await cgroupTrees()) await visit(join(tree, path));
  return folders;
}

/** Pids of all processes in the cgroup `path` and below. */
export async function cgroupProcesses(path: string): Promise<Set<number>> {
  const pids = new Set<number>();
  for (const folder of await cgroupFolders(path)) {
    const text = await ifPresent(readFile(join(folder, "cgroup.procs"), "utf8"));
    for (const pid of (text ?? "").split("\n")) if (pid !== "" && pid !== "0") pids.add(Number(pid));
  }
  return pids;
}

/** Removes the cgroup `path` and everything below. Its processes must be gone; the kernel may take a moment. */
export async function removeCgroups(path: string): Promise<void> {
  await waitFor(
    async () => {
      for (const folder of await cgroupFolders(path)) await rmdir(folder);
      return true;
    },
    { what: `cgroup ${path} to be removable` },
  );
}

async function ifPresent<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    // ENODEV: the cgroup went away between finding it and reading its file.
    if (errnoOf(error) === "ENOENT" || errnoOf(error) === "ENODEV") return undefined;
    throw error;
  }
}
