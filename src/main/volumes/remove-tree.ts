// Removes a volume's directory.
// Invariant: nothing is removed through a mount; a mount found inside stops the removal.
// The kernel refuses to remove a mount point (EBUSY) before it checks whether a directory is empty (ENOTEMPTY). After
// ENOTEMPTY the walk may therefore enter the directory, without reading the mount table.

import { opendir, rmdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "../../shared/base/errors/error-code.js";
import { unlessGone } from "../../shared/base/errors/unless-gone.js";
import { entriesOf } from "../../shared/io/fs/untrusted-folder.js";
import { ForeignMountError } from "./errors.js";
import { mountPointsWithin } from "./mounts.js";
import { run } from "./program.js";

/** Flat directories up to this many files are emptied here; anything more is rm's work, in its own process. */
const SMALL = 32;
/** A tree of the kubelet's own with more entries than this has entries of others: it is rm's work, too. */
const MOST_OWN = 1000;
/** The next try removes entries that appeared while the directory was emptied. */
const TRIES = 3;

/** A directory that is not there is no error. @throws ForeignMountError, ProgramError */
export async function removeTree(directory: string): Promise<void> {
  if (await explained(directory, () => removeSmall(directory))) return;
  const mounted = await mountPointsWithin(directory);
  if (mounted.length > 0) throw new ForeignMountError(directory, mounted);
  // rm walks by file descriptor, so no symlink swapped in can lead it elsewhere; --one-file-system is the second belt.
  await run("rm", ["-rf", "--one-file-system", "--", directory]);
}

/** False when the directory is not small and flat; some files may be removed. */
async function removeSmall(directory: string): Promise<boolean> {
  if ((await tryRemove(directory)) === "gone") return true;
  const files: string[] = [];
  // A for-await loop closes the directory on every way out.
  for await (const entry of await opendir(directory)) {
    if (entry.isDirectory() || files.length === SMALL) return false;
    files.push(entry.name);
  }
  await Promise.all(files.map((name) => unlink(`${directory}/${name}`)));
  return (await tryRemove(directory)) === "gone";
}

/**
 * Removes a directory that the kubelet created (a pod's, after its volumes are torn down) without a process: no
 * container could ever write into it as a directory. It holds a few files per container; rm removes a larger tree. All
 * directories are tested before the first file is removed. @throws ForeignMountError
 */
export async function removeOwnTree(directory: string): Promise<void> {
  if (!(await explained(directory, () => removeFound(directory)))) await removeTree(directory);
}

/** False when the tree is too large; only empty directories may be removed. */
async function removeFound(directory: string): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    const found: Found = { files: [], directories: [], count: 0 };
    await survey(directory, found);
    if (isTooMuch(found)) return false;
    await Promise.all(found.files.map((file) => unlessGone(unlink(file))));
    const left = [];
    // Those above come before those below.
    for (const one of found.directories.reverse()) if ((await tryRemove(one)) === "not empty") left.push(one);
    if (left.length === 0) return true;
    if (attempt > TRIES) await rmdir(directory);
  }
}

interface Found {
  files: string[];
  directories: string[];
  /** Entries listed so far. */
  count: number;
}

const isTooMuch = ({ count }: Found): boolean => count > MOST_OWN;

/** Empty directories go at once. Ends early when there is too much. Rejects with EBUSY at a mount point. */
async function survey(path: string, found: Found): Promise<void> {
  if (isTooMuch(found)) return;
  try {
    if ((await tryRemove(path)) === "gone") return;
  } catch (error) {
    if (errorCode(error) !== "ENOTDIR") throw error;
    found.files.push(path);
    return;
  }
  found.directories.push(path);
  const below: string[] = [];
  await unlessGone(list(path, below, found));
  await Promise.all(below.map((place) => survey(place, found)));
}

async function list(path: string, below: string[], found: Found): Promise<void> {
  for await (const entry of entriesOf(path)) {
    found.count++;
    if (isTooMuch(found)) return;
    (entry.isDirectory() ? below : found.files).push(join(path, entry.name));
  }
}

/** True when the directory does not exist afterwards. */
export async function removeEmpty(directory: string): Promise<boolean> {
  try {
    return (await tryRemove(directory)) === "gone";
  } catch (error) {
    if (errorCode(error) === "EBUSY") return false;
    throw error;
  }
}

/** Rejects with EBUSY for a mount point, even an empty one. */
async function tryRemove(directory: string): Promise<"gone" | "not empty"> {
  try {
    await rmdir(directory);
    return "gone";
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT") return "gone";
    if (code === "ENOTEMPTY" || code === "EEXIST") return "not empty";
    throw error;
  }
}

/** Names the mounts where the system only reports EBUSY. */
async function explained<T>(directory: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (errorCode(error) !== "EBUSY") throw error;
    const mounted = await mountPointsWithin(directory);
    throw mounted.length > 0 ? new ForeignMountError(directory, mounted) : error;
  }
}
