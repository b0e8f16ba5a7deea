// Unmounting the kubelet's own mounts below a pod's directory.

import { realpath } from "node:fs/promises";
import path from "node:path";
import { readMountsWithin, type Mount } from "../../shared/io/fs/mountinfo.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";
import { ProgramError, volumeBusyError } from "./errors.js";
import { run } from "./program.js";

export async function isMountPoint(directory: string): Promise<boolean> {
  return (await mountsAt(directory)).length > 0;
}

/** The mounts exactly at the directory. */
export async function mountsAt(directory: string): Promise<Mount[]> {
  const place = await asMountPoint(directory);
  return (await readMountsWithin(place)).filter(({ mountPoint }) => mountPoint === place);
}

/** The directory as the mount table spells it: links above it resolved, itself not followed. */
export async function asMountPoint(directory: string): Promise<string> {
  try {
    return path.join(await realpath(path.dirname(directory)), path.basename(directory));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return directory;
    throw error;
  }
}

/**
 * Unmounts every mount exactly at `directory`, layer by layer; no force, never lazily, so that success means
 * gone. @throws VolumeError when in use, ProgramError
 */
export async function unmount(uid: PodUid | "", directory: string): Promise<void> {
  const place = await asMountPoint(directory);
  const layers = (await readMountsWithin(place)).filter(({ mountPoint }) => mountPoint === place).length;
  for (let layer = 0; layer < layers; layer++) {
    try {
      await run("umount", ["--no-canonicalize", "--", place]);
    } catch (error) {
      if (error instanceof ProgramError && /busy/.test(error.output)) throw volumeBusyError(uid, directory);
      // Another process has unmounted it in the meantime.
      if (!(await isMountPoint(directory))) return;
      throw error;
    }
  }
}

/** Mount points at or below the directory, deepest first. */
export async function mountPointsWithin(directory: string): Promise<string[]> {
  return (await readMountsWithin(await asMountPoint(directory))).map(({ mountPoint }) => mountPoint);
}
