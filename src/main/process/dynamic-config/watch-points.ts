// The folders and names to watch for a path: the file itself, and every link on the way to it. A mounted ConfigMap
// changes by swapping one link; an editor renames a new file over the old one; both change one of these names.

import { lstat, readlink } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { SourceReadError } from "./errors.js";
import { listDropIns, type LocalPaths } from "./read-local.js";

/** Folder → names in it that matter; "all" where any does. Folders are free of links. */
export type WatchPoints = Map<string, Set<string> | "all">;

const MAX_LINKS = 40;

/** Never rejects if a name is missing: the first missing name on the way is then watched. */
export async function watchPointsOf(paths: LocalPaths): Promise<WatchPoints> {
  const points: WatchPoints = new Map();
  if (paths.config !== undefined) await addWay(points, paths.config);
  if (paths.dropIns === undefined) return points;
  await addWay(points, paths.dropIns);
  const { files, folders } = await listDropIns(paths.dropIns).catch((error: unknown) => {
    if (error instanceof SourceReadError) return { files: [], folders: [] };
    throw error;
  });
  for (const folder of folders) points.set((await addWay(points, folder)) ?? folder, "all");
  for (const file of files) await addWay(points, file);
  return points;
}

/** Follows a path component by component; returns where it leads, undefined when something is missing on the way. */
async function addWay(points: WatchPoints, path: string): Promise<string | undefined> {
  let at = "/";
  let links = 0;
  const rest = path.split("/").filter((part) => part !== "");
  for (let part = rest.shift(); part !== undefined; part = rest.shift()) {
    if (part === ".") continue;
    if (part === "..") {
      at = dirname(at);
      continue;
    }
    const full = join(at, part);
    const stats = await lstat(full).catch(() => undefined);
    if (stats === undefined) {
      add(points, at, part);
      return undefined;
    }
    if (!stats.isSymbolicLink()) {
      if (rest.length === 0) add(points, at, part);
      at = full;
      continue;
    }
    add(points, at, part);
    const target = await readlink(full).catch(() => undefined);
    if (target === undefined || ++links > MAX_LINKS) return undefined;
    rest.unshift(...target.split("/").filter((name) => name !== ""));
    if (isAbsolute(target)) at = "/";
  }
  return at;
}

function add(points: WatchPoints, folder: string, name: string): void {
  const names = points.get(folder);
  if (names === "all") return;
  if (names === undefined) points.set(folder, new Set([name]));
  else names.add(name);
}
