// Disk usage of directories, by blocks and inodes as du counts. A file with several names counts with a part at each
// name. So a walk in several jobs need not remember counted files. For a tree that is a file system by itself, statfs
// replaces the walk. Other file systems mounted below are not counted.
// Invariant: no link is followed (tree-walk.ts); files that are removed meanwhile are not counted and are no failure.

import { lstatSync, statfsSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import { systemClock } from "../../../shared/base/clock/clock.js";
import { errorCode } from "../../../shared/base/errors/error-code.js";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import type { DirectoryUsageJob, DirectoryUsageResult, UsagePart, UsageTree } from "../../../shared/contracts/tasks.js";
import { inside, unlessMovedOn } from "../below.js";
import { TreeWalk } from "../tree-walk.js";

const BLOCK = 512;
/** Errors of the kernel for an unreadable directory: it is left out, and the rest still counts. */
const UNREADABLE = new Set(["EACCES", "EPERM", "EIO", "ESTALE"]);

/** @throws other errors of the kernel for an existing directory */
export function directoryUsage({ trees, maxFiles, maxMs }: DirectoryUsageJob): DirectoryUsageResult {
  const began = systemClock.monotonic();
  const count = { files: 0, maxFiles, until: began + maxMs };
  const found = trees.map((tree) => measure(tree, count));
  return { trees: found, workMs: systemClock.monotonic() - began };
}

interface Count {
  files: number;
  maxFiles: number;
  /** Monotonic. */
  until: number;
}

function measure(tree: UsageTree, count: Count): UsagePart {
  if (count.files >= count.maxFiles) {
    return omitUndefined({ bytes: 0, inodes: 0, done: false, place: tree.place });
  }
  const part: UsagePart = { bytes: 0, inodes: 0, done: true };
  const root = unlessMovedOn(() => lstatSync(tree.root));
  if (root === undefined) return part;
  if (tree.place === undefined) {
    // Its beginning, or a job that did not get to it.
    count.files++;
    if (root.isDirectory() && lstatSync(dirname(tree.root)).dev !== root.dev) return wholeFileSystem(tree.root);
    if (tree.itself) add(part, root);
  }
  if (!root.isDirectory()) return part;
  const walk = new TreeWalk(tree.root, tree.place, UNREADABLE);
  const entry = (directory: number, name: string): boolean => {
    const found = readable(() => unlessMovedOn(() => lstatSync(inside(directory, name))));
    if (found === undefined || found.dev !== root.dev) return false;
    add(part, found);
    return found.isDirectory();
  };
  const bounds = { most: count.maxFiles - count.files, until: count.until };
  count.files += walk.run({ entry: (directory, { name }) => entry(directory, name) }, bounds);
  const { place } = walk;
  return place === undefined ? part : { ...part, place, done: false };
}

function wholeFileSystem(path: string): UsagePart {
  const { bsize, blocks, bfree, files, ffree } = statfsSync(path);
  return { bytes: (blocks - bfree) * bsize, inodes: files - ffree, done: true, apart: true };
}

function add(part: UsagePart, stats: Stats): void {
  const names = stats.isDirectory() ? 1 : Math.max(stats.nlink, 1);
  part.bytes += (stats.blocks * BLOCK) / names;
  part.inodes += 1 / names;
}

function readable<T>(step: () => T): T | undefined {
  try {
    return step();
  } catch (error) {
    if (UNREADABLE.has(errorCode(error) ?? "")) return undefined;
    throw error;
  }
}
