// Where a pod's volumes live below the root directory; the layout is upstream's, so node tools find what they expect.
import { safePodUid } from "../../shared/api/pod-uid.js";

/** Mode of the directories above a volume. */
export const POD_DIRECTORY_MODE = 0o750;

export function podsDirectory(rootDir: string): string {
  return `${rootDir}/pods`;
}

/** @throws UnsafePodUidError */
export function podDirectory(rootDir: string, uid: string): string {
  return `${podsDirectory(rootDir)}/${safePodUid(uid)}`;
}

/** "kubernetes.io/empty-dir" is spelled "kubernetes.io~empty-dir" on disk. */
export function pluginDirectoryName(plugin: string): string {
  return plugin.replaceAll("/", "~");
}

export function volumesDirectory(rootDir: string, uid: string): string {
  return `${podDirectory(rootDir, uid)}/volumes`;
}

export function volumeDirectory(rootDir: string, uid: string, plugin: string, volume: string): string {
  return `${volumesDirectory(rootDir, uid)}/${pluginDirectoryName(plugin)}/${volume}`;
}

/** The plugin's own notes on a volume. */
export function metaDirectory(rootDir: string, uid: string, plugin: string, volume: string): string {
  return `${podDirectory(rootDir, uid)}/plugins/${pluginDirectoryName(plugin)}/${volume}`;
}

export function subPathsDirectory(rootDir: string, uid: string): string {
  return `${podDirectory(rootDir, uid)}/volume-subpaths`;
}
