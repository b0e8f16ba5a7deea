// Paths of CSI volumes below the root directory. The layout is upstream's: drivers and node tools depend on it.

import { createHash } from "node:crypto";
import {
  devicesDirectory,
  pluginDirectoryName,
  volumeDirectory,
  volumesDirectory,
} from "../../../shared/kubernetes/api/pod-paths.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";

export const CSI_PLUGIN = "kubernetes.io/csi";
const ON_DISK = pluginDirectoryName(CSI_PLUGIN);
export const VOL_DATA_FILE = "vol_data.json";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** A volume's name as part of a path: the PV's, or the pod's own for an ephemeral volume. */
export function specName(name: string): string {
  return name.replaceAll("/", "~");
}

/** Returns the name of the VolumeAttachment object. */
export function attachmentName(handle: string, driver: string, nodeName: string): string {
  return `csi-${sha256(handle + driver + nodeName)}`;
}

export function ephemeralHandle(uid: PodUid, volume: string): string {
  return `csi-${sha256(uid + volume)}`;
}

/** As node.status.volumesInUse and volumesAttached name it. */
export function uniqueVolumeName(driver: string, handle: string): string {
  return `${CSI_PLUGIN}/${driver}^${handle}`;
}

export function csiRoot(rootDir: string): string {
  return `${rootDir}/plugins/${CSI_PLUGIN}`;
}

/** Returns the directory of a staged file system: globalmount and vol_data.json are in it. */
export function stagingDirectory(rootDir: string, driver: string, handle: string): string {
  return `${csiRoot(rootDir)}/${driver}/${sha256(handle)}`;
}
export const GLOBAL_MOUNT = "globalmount";

export function publishDirectory(rootDir: string, uid: PodUid, spec: string): string {
  return volumeDirectory(rootDir, uid, CSI_PLUGIN, spec);
}

export function publishedIn(rootDir: string, uid: PodUid): string {
  return `${volumesDirectory(rootDir, uid)}/${ON_DISK}`;
}

export function devicesRoot(rootDir: string): string {
  return `${csiRoot(rootDir)}/volumeDevices`;
}

/** Places of a block volume; neither "staging" nor "publish" may be the name of one. */
export function blockPaths(rootDir: string, spec: string) {
  const root = devicesRoot(rootDir);
  return {
    staging: `${root}/staging/${spec}`,
    publishParent: `${root}/publish/${spec}`,
    volume: `${root}/${spec}`,
    globalMap: `${root}/${spec}/dev`,
    data: `${root}/${spec}/data`,
  };
}

/** Links to the devices of a pod. */
export function podMapDirectory(rootDir: string, uid: PodUid): string {
  return `${devicesDirectory(rootDir, uid)}/${ON_DISK}`;
}

/** The paths of a block volume that belong to one pod. */
export function blockPodPaths(rootDir: string, spec: string, uid: PodUid) {
  const { publishParent, globalMap } = blockPaths(rootDir, spec);
  const podMap = podMapDirectory(rootDir, uid);
  return {
    publish: `${publishParent}/${uid}`,
    globalLink: `${globalMap}/${uid}`,
    podMap,
    podLink: `${podMap}/${spec}`,
  };
}
