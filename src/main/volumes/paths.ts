// Making and reading the directories of volumes. Their layout is in shared/kubernetes/api/pod-paths.ts.

import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { errorCode } from "../../shared/base/errors/error-code.js";
import { namesOf } from "../../shared/io/fs/untrusted-folder.js";
import { podsDirectory } from "../../shared/kubernetes/api/pod-paths.js";
import { isSafePodUid } from "../../shared/kubernetes/api/pod-uid.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";

/** Mode of the directories above a volume. */
export const POD_DIRECTORY_MODE = 0o750;

/** Pods that have a directory. Other entries, such as lost+found of a separate file system, are no pods. */
export async function podUidsIn(rootDir: string): Promise<PodUid[]> {
  return (await namesIn(podsDirectory(rootDir))).filter(isSafePodUid);
}

/** In the meta directory of a volume that was once complete. */
export const READY_FILE = "ready";

/**
 * Creates the mount point of a volume. mkdir(2) by itself does not access a file system that is mounted there and may
 * hang; with `recursive` Node would stat it.
 */
export async function makeMountPoint(target: string): Promise<void> {
  await mkdir(dirname(target), { recursive: true, mode: POD_DIRECTORY_MODE });
  try {
    await mkdir(target, { mode: POD_DIRECTORY_MODE });
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  }
}

/** Names in one directory of the kubelet's own, read in parts. */
export const MOST_NAMES_IN = 100_000;

/** Empty for a directory that is not there, or is none. @throws FolderTooBigError past `most` names */
export async function namesIn(directory: string, most = MOST_NAMES_IN): Promise<string[]> {
  try {
    return await namesOf(directory, undefined, most);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "")) return [];
    throw error;
  }
}
