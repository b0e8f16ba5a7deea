// Where a pod's volumes live below the root directory; the layout is upstream's, so node tools find what they expect.
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { isSafePodUid, safePodUid } from "../../shared/api/pod-uid.js";
import { errorCode } from "../../shared/errors/error-code.js";
import { namesOf } from "../../shared/fs/untrusted-folder.js";

/** Mode of the directories above a volume. */
export const POD_DIRECTORY_MODE = 0o750;

export function podsDirectory(rootDir: string): string {
  return `${rootDir}/pods`;
}

/** UIDs of the pods that have a directory. Other entries, such as lost+found of a file system of its own, are no pods. */
export async function podUidsIn(rootDir: string): Promise<string[]> {
  return (await namesIn(podsDirectory(rootDir))).filter(isSafePodUid);
}

/** @throws UnsafePodUidError */
export function podDirectory(rootDir: string, uid: string): string {
  return `${podsDirectory(rootDir)}/${safePodUid(uid)}`;
}

/** "kubernetes.io/empty-dir" is spelled "kubernetes.io~empty-dir" on disk. */
export function pluginDirectoryName(plugin: string): string {
  return plugin.replaceAll("/", "~");
}

export function pluginName(directoryName: string): string {
  return directoryName.replaceAll("~", "/");
}

export function volumesDirectory(rootDir: string, uid: string): string {
  return `${podDirectory(rootDir, uid)}/volumes`;
}

export function volumeDirectory(rootDir: string, uid: string, plugin: string, volume: string): string {
  return `${volumesDirectory(rootDir, uid)}/${pluginDirectoryName(plugin)}/${volume}`;
}

/** Links to the devices of volumes that the pod has as such. */
export function devicesDirectory(rootDir: string, uid: string): string {
  return `${podDirectory(rootDir, uid)}/volumeDevices`;
}

/** The plugin's own notes on a volume. */
export function metaDirectory(rootDir: string, uid: string, plugin: string, volume: string): string {
  return `${podDirectory(rootDir, uid)}/plugins/${pluginDirectoryName(plugin)}/${volume}`;
}

export function subPathsDirectory(rootDir: string, uid: string): string {
  return `${podDirectory(rootDir, uid)}/volume-subpaths`;
}

/** In the meta directory of a volume that was once complete. */
export const READY_FILE = "ready";

/**
 * Makes the directory that a volume is mounted at. mkdir(2) by itself does not touch what is mounted there, which may not
 * answer; with `recursive` Node would look at it.
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
const MOST_NAMES_IN = 100_000;

/** Empty for a directory that is not there, or is none. @throws FolderTooBigError past `most` names */
export async function namesIn(directory: string, most = MOST_NAMES_IN): Promise<string[]> {
  try {
    return await namesOf(directory, undefined, most);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "")) return [];
    throw error;
  }
}
