// Removes a volume's directory. INVARIANT: nothing is removed through a mount; a mount found inside stops the removal.
import { opendir, rmdir, unlink } from "node:fs/promises";
import { removeFiles } from "../../shared/fs/remove-files.js";
import { ForeignMountError } from "./errors.js";
import { mountPointsWithin } from "./mounts.js";
import { run } from "./program.js";

/** Flat directories up to this many files are emptied here; anything more is rm's work, in its own process. */
const SMALL = 32;

/** A directory that is not there is no error. @throws ForeignMountError, ProgramError */
export async function removeTree(directory: string): Promise<void> {
  const mounted = await mountPointsWithin(directory);
  if (mounted.length > 0) throw new ForeignMountError(directory, mounted);
  if (await removeSmall(directory)) return;
  // rm walks by file descriptor, so no symlink swapped in can lead it elsewhere; --one-file-system is the second belt.
  await run("rm", ["-rf", "--one-file-system", "--", directory]);
}

/** False, with nothing but some files gone, when the directory is not small and flat. */
async function removeSmall(directory: string): Promise<boolean> {
  if (await removeEmpty(directory)) return true;
  const files: string[] = [];
  // A for-await loop closes the directory on every way out.
  for await (const entry of await opendir(directory)) {
    if (entry.isDirectory() || files.length === SMALL) return false;
    files.push(entry.name);
  }
  await Promise.all(files.map((name) => unlink(`${directory}/${name}`)));
  return removeEmpty(directory);
}

/**
 * Removes a directory of the agent's own making (a pod's, once its volumes are down) without a process for it: nothing
 * in it was ever writable as a directory by a container. Bounded by what it holds, a few files per container.
 * @throws ForeignMountError
 */
export async function removeOwnTree(directory: string): Promise<void> {
  const mounted = await mountPointsWithin(directory);
  if (mounted.length > 0) throw new ForeignMountError(directory, mounted);
  await removeFiles(directory);
}

/** True when the directory is gone afterwards. */
export async function removeEmpty(directory: string): Promise<boolean> {
  try {
    await rmdir(directory);
    return true;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT") return true;
    if (code === "ENOTEMPTY" || code === "EBUSY") return false;
    throw error;
  }
}
