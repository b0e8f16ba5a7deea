// The layout of a pod's directory, <rootDir>/pods/<UID>. It is upstream's: CSI drivers, node tools and another kubelet
// rely on it.
// Invariant: no other file joins these names, and no path contains a UID or a name that is unsafe as a path element.

import type { PodUid } from "../identifiers.js";
import { isPathElement, pathElement } from "./path-element.js";
import { isSafePodUid, safePodUid } from "./pod-uid.js";
import type { Volume } from "./volume.js";

export function podsDirectory(rootDir: string): string {
  return `${rootDir}/pods`;
}

/** @throws OperatorError, as do all functions of a UID below */
export function podDirectory(rootDir: string, uid: PodUid): string {
  return `${podsDirectory(rootDir)}/${safePodUid(uid)}`;
}

/** The three directories that exist before a pod's first container does. */
export function firstDirectories(rootDir: string, uid: PodUid): string[] {
  return [podDirectory(rootDir, uid), volumesDirectory(rootDir, uid), pluginsDirectory(rootDir, uid)];
}

/** Before the driver's name in the plugin name of a flexVolume. */
export const FLEX_PREFIX = "flexvolume-";

/**
 * "kubernetes.io/empty-dir" is spelled "kubernetes.io~empty-dir" on disk, and "flexvolume-vendor/driver" is
 * "vendor~driver".
 */
export function pluginDirectoryName(plugin: string): string {
  const name = plugin.startsWith(FLEX_PREFIX) ? plugin.slice(FLEX_PREFIX.length) : plugin;
  return name.replaceAll("/", "~");
}

export function pluginName(directoryName: string): string {
  const name = directoryName.replaceAll("~", "/");
  return name.startsWith("kubernetes.io/") ? name : FLEX_PREFIX + name;
}

export function volumesDirectory(rootDir: string, uid: PodUid): string {
  return `${podDirectory(rootDir, uid)}/volumes`;
}

export function volumeDirectory(rootDir: string, uid: PodUid, plugin: string, volume: string): string {
  return `${volumesDirectory(rootDir, uid)}/${pluginDirectoryName(plugin)}/${pathElement(volume)}`;
}

/** Below the volume's directory of a CSI driver: where the driver publishes the volume. */
export const CSI_MOUNT = "mount";

/** Links to the devices of block volumes. */
export function devicesDirectory(rootDir: string, uid: PodUid): string {
  return `${podDirectory(rootDir, uid)}/volumeDevices`;
}

/** Mount records and other files of volume plugins. */
export function pluginsDirectory(rootDir: string, uid: PodUid): string {
  return `${podDirectory(rootDir, uid)}/plugins`;
}

export function metaDirectory(rootDir: string, uid: PodUid, plugin: string, volume: string): string {
  return `${pluginsDirectory(rootDir, uid)}/${pluginDirectoryName(plugin)}/${pathElement(volume)}`;
}

export function subPathsDirectory(rootDir: string, uid: PodUid): string {
  return `${podDirectory(rootDir, uid)}/volume-subpaths`;
}

/** Mount points in a pod's directory, from its UID on: volumes and sub-paths. */
export const MOUNT_POINT =
  /^[^/]+\/(volumes\/[^/]+\/[^/]+|volumes\/kubernetes\.io~csi\/[^/]+\/mount|volume-subpaths\/[^/]+\/[^/]+\/\d+)$/;

/** Files that the kubelet makes for containers, a directory for each container. */
export function containersDirectory(rootDir: string, uid: PodUid): string {
  return `${podDirectory(rootDir, uid)}/containers`;
}

/** Host file behind a container's termination message path. `id` is any 32-bit number, new for each start. */
export function terminationLogPath(rootDir: string, uid: PodUid, container: string, id: number): string {
  return `${containersDirectory(rootDir, uid)}/${pathElement(container)}/${(id >>> 0).toString(16).padStart(8, "0")}`;
}

export function etcHostsPath(rootDir: string, uid: PodUid): string {
  return `${podDirectory(rootDir, uid)}/etc-hosts`;
}

/** The user namespace of a pod with hostUsers: false. */
export function usernsPath(rootDir: string, uid: PodUid): string {
  return `${podDirectory(rootDir, uid)}/userns`;
}

const PLUGINS: readonly (readonly [source: string, plugin: string])[] = [
  ["emptyDir", "kubernetes.io/empty-dir"],
  ["configMap", "kubernetes.io/configmap"],
  ["secret", "kubernetes.io/secret"],
  ["downwardAPI", "kubernetes.io/downward-api"],
  ["projected", "kubernetes.io/projected"],
  ["nfs", "kubernetes.io/nfs"],
  ["iscsi", "kubernetes.io/iscsi"],
  ["fc", "kubernetes.io/fc"],
];

/** Mount point of a volume in a pod's spec. undefined: a volume without a directory below the root directory. */
export function volumePath(rootDir: string, uid: PodUid, volume: Volume): string | undefined {
  if (!isSafePodUid(uid) || !isPathElement(volume.name)) return undefined;
  if (volume.csi !== undefined)
    return `${volumeDirectory(rootDir, uid, "kubernetes.io/csi", volume.name)}/${CSI_MOUNT}`;
  const plugin = PLUGINS.find(([source]) => volume[source] !== undefined)?.[1];
  return plugin === undefined ? undefined : volumeDirectory(rootDir, uid, plugin, volume.name);
}
