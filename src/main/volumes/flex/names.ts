// Names of flexVolume drivers: in a pod, on disk and in metrics. The layout is upstream's.

import { FLEX_PREFIX, pluginDirectoryName } from "../../../shared/kubernetes/api/pod-paths.js";

export const FLEX_PLUGIN = "kubernetes.io/flexvolume";

/** Longest part of a driver's name. Both parts together are the name of a directory. */
const PART = "[A-Za-z0-9][-A-Za-z0-9._]{0,99}";
const DRIVER = new RegExp(`^${PART}(/${PART})?$`);
/** Directories that volumes of these plugins have already. */
const IN_TREE =
  /^kubernetes\.io\/(empty-dir|host-path|configmap|secret|downward-api|projected|nfs|local-volume|csi|iscsi|fc)$/;

/** The pod names a driver that cannot exist, or lacks one. */
export class FlexSpecError extends Error {
  override readonly name = "FlexSpecError";
}

/** @throws FlexSpecError */
export function checkedDriver(driver: unknown): string {
  if (typeof driver === "string" && DRIVER.test(driver) && !driver.includes("..") && !IN_TREE.test(driver))
    return driver;
  throw new FlexSpecError(
    `flexVolume driver ${JSON.stringify(driver)} is not the name of a driver: write "<vendor>/<driver>", ` +
      "letters, digits, '-', '_' and '.'",
  );
}

/** As metrics and the directory functions have it: "flexvolume-vendor/driver". */
export function flexPlugin(driver: string): string {
  return FLEX_PREFIX + driver;
}

/** The driver whose volumes have that directory. */
export function driverOfDirectory(directory: string): string {
  return directory.replaceAll("~", "/");
}

/** "vendor/driver" is the program vendor~driver/driver. */
export function executableOf(pluginDir: string, driver: string): string {
  return `${pluginDir}/${pluginDirectoryName(driver)}/${driver.slice(driver.lastIndexOf("/") + 1)}`;
}

/** As node.status.volumesInUse and volumesAttached name it. */
export function attachedName(driver: string, volume: string): string {
  return `${flexPlugin(driver)}/${volume}`;
}

/** Where drivers mount devices for the whole node, a directory per volume. */
export function deviceMounts(rootDir: string, driver: string): string {
  return `${rootDir}/plugins/${FLEX_PLUGIN}/${driver}/mounts`;
}
