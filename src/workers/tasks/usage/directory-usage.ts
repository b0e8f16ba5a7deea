// What directories take of the disk, by blocks and inodes as du counts; a file of several names counts at each of them with its
// part, so that a walk in several jobs need not remember who was counted. A tree that is a file system of its own is not walked:
// the file system is asked. Others that are mounted below are not counted.
// What must hold: no link is followed (below.ts); what goes away meanwhile is not counted and is no failure.
import { closeSync, lstatSync, opendirSync, statfsSync, type Dirent, type Stats } from "node:fs";
import { dirname } from "node:path";
import { systemClock } from "../../../shared/clock/clock.js";
import type { DirectoryUsageJob, DirectoryUsageResult, UsagePart, UsageTree } from "../../../shared/contracts/tasks.js";
import { errorCode } from "../../../shared/fs/atomic-write.js";
import { inside, openBelow, unlessMovedOn } from "../below.js";

const BLOCK = 512;
/** What the kernel says of a place that can't be read: it is left out, and the rest is still of use. */
const UNREADABLE = new Set(["EACCES", "EPERM", "EIO", "ESTALE"]);

/** @throws what the kernel says of a place that is there and can't be looked at for another reason */
export function directoryUsage({ trees, maxFiles }: DirectoryUsageJob): DirectoryUsageResult {
  const began = systemClock.monotonic();
  const count = { files: 0, maxFiles };
  const found = trees.map((tree) => measure(tree, count));
  return { trees: found, workMs: systemClock.monotonic() - began };
}

interface Count {
  files: number;
  maxFiles: number;
}

function measure(tree: UsageTree, count: Count): UsagePart {
  if (count.files >= count.maxFiles) return { bytes: 0, inodes: 0, pending: tree.pending ?? [""] };
  const part: UsagePart = { bytes: 0, inodes: 0, pending: [] };
  const root = unlessMovedOn(() => lstatSync(tree.root));
  if (root === undefined) return part;
  if (tree.pending === undefined || tree.pending.includes("")) {
    // Its beginning, or a job that did not get to it.
    count.files++;
    if (root.isDirectory() && lstatSync(dirname(tree.root)).dev !== root.dev) return wholeFileSystem(tree.root);
    if (tree.itself) add(part, root);
    if (!root.isDirectory()) return part;
  }
  part.pending = [...(tree.pending ?? [""])];
  for (let next = part.pending.pop(); next !== undefined; next = part.pending.pop()) {
    walk({ root: tree.root, device: root.dev }, next, part, count);
    if (count.files >= count.maxFiles) break;
  }
  return part;
}

function wholeFileSystem(path: string): UsagePart {
  const { bsize, blocks, bfree, files, ffree } = statfsSync(path);
  return { bytes: (blocks - bfree) * bsize, inodes: files - ffree, pending: [] };
}

/** What is in one directory; its directories are put into `pending`. */
function walk(tree: { root: string; device: number }, relative: string, part: UsagePart, count: Count): void {
  const directory = readable(() => unlessMovedOn(() => openBelow(tree.root, relative)));
  if (directory === undefined) return;
  try {
    const listing = opendirSync(`/proc/self/fd/${directory}`, { encoding: "latin1" as BufferEncoding });
    try {
      for (let entry: Dirent | null = listing.readSync(); entry !== null; entry = listing.readSync()) {
        const { name } = entry;
        count.files++;
        const found = readable(() => unlessMovedOn(() => lstatSync(inside(directory, Buffer.from(name, "latin1")))));
        if (found === undefined || found.dev !== tree.device) continue;
        add(part, found);
        if (found.isDirectory()) part.pending.push(relative === "" ? name : `${relative}/${name}`);
      }
    } finally {
      listing.closeSync();
    }
  } finally {
    closeSync(directory);
  }
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
