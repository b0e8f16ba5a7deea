// Where CSI volumes live below the root directory. The layout is upstream's: drivers and node tools know it.
import { createHash } from "node:crypto";
import { podDirectory, podsDirectory, volumeDirectory } from "../paths.js";

export const CSI_PLUGIN = "kubernetes.io/csi";
const ON_DISK = "kubernetes.io~csi";
export const VOL_DATA_FILE = "vol_data.json";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** A volume's name as part of a path: the PV's, or the pod's own for an ephemeral volume. */
export function specName(name: string): string {
  return name.replaceAll("/", "~");
}

/** Of the VolumeAttachment object. */
export function attachmentName(handle: string, driver: string, nodeName: string): string {
  return `csi-${sha256(handle + driver + nodeName)}`;
}

export function ephemeralHandle(uid: string, volume: string): string {
  return `csi-${sha256(uid + volume)}`;
}

/** As node.status.volumesInUse and volumesAttached name it. */
export function uniqueVolumeName(driver: string, handle: string): string {
  return `${CSI_PLUGIN}/${driver}^${handle}`;
}

export function csiRoot(rootDir: string): string {
  return `${rootDir}/plugins/${CSI_PLUGIN}`;
}

/** Of a staged file system: globalmount and vol_data.json are in it. */
export function stagingDirectory(rootDir: string, driver: string, handle: string): string {
  return `${csiRoot(rootDir)}/${driver}/${sha256(handle)}`;
}
export const GLOBAL_MOUNT = "globalmount";

export function publishDirectory(rootDir: string, uid: string, spec: string): string {
  return volumeDirectory(rootDir, uid, CSI_PLUGIN, spec);
}
export const PUBLISH_TARGET = "mount";

export function publishedIn(rootDir: string, uid: string): string {
  return `${podDirectory(rootDir, uid)}/volumes/${ON_DISK}`;
}

export function devicesRoot(rootDir: string): string {
  return `${csiRoot(rootDir)}/volumeDevices`;
}

/** Everything of a block volume; no PV may be called "staging" or "publish", and neither collides with its name. */
export function blockPaths(rootDir: string, spec: string, uid: string) {
  const root = devicesRoot(rootDir);
  return {
    staging: `${root}/staging/${spec}`,
    publishParent: `${root}/publish/${spec}`,
    publish: `${root}/publish/${spec}/${uid}`,
    volume: `${root}/${spec}`,
    globalMap: `${root}/${spec}/dev`,
    globalLink: `${root}/${spec}/dev/${uid}`,
    data: `${root}/${spec}/data`,
    podMap: `${podDirectory(rootDir, uid)}/volumeDevices/${ON_DISK}`,
    podLink: `${podDirectory(rootDir, uid)}/volumeDevices/${ON_DISK}/${spec}`,
  };
}

export { podsDirectory };
