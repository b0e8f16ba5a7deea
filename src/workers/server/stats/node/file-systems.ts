// The file systems in the root's rows of the cadvisor page. Those on disks appear once each, by their device; the
// node's own in memory appear by their mount point. File systems of pods are left out, and those of the network, which
// might not respond.

import { parseMountinfo } from "../../../../shared/io/fs/mountinfo.js";
import type { FsFigures } from "../../../../shared/node/stats/fs-figures.js";
import type { ReadText } from "../../../../shared/node/stats/kernel-file.js";

interface NodeFileSystem {
  device: string;
  mountPoint: string;
}

const ON_DISKS = /^(ext\d|xfs|btrfs|zfs|f2fs|jfs|reiserfs|vfat|exfat|squashfs|iso9660|udf)$/;

/** Mounts below these paths belong to containers. */
const OF_RUNTIMES = ["/run/containerd", "/var/lib/containerd", "/run/containers", "/var/lib/containers"];

/** That of the root directory is among them, of any kind. @internal */
export function nodeFileSystems(mountinfo: string, rootDir: string): NodeFileSystem[] {
  const found = new Map<string, string>();
  let ofRoot = { device: "", mountPoint: "" };
  for (const { fsType, source, mountPoint } of parseMountinfo(mountinfo)) {
    if ([rootDir, ...OF_RUNTIMES].some((directory) => mountPoint.startsWith(`${directory}/`))) continue;
    const device = ON_DISKS.test(fsType) ? source : fsType === "tmpfs" ? mountPoint : undefined;
    if (device !== undefined && !found.has(device)) found.set(device, mountPoint);
    const covers = `${rootDir}/`.startsWith(mountPoint.endsWith("/") ? mountPoint : `${mountPoint}/`);
    // Of two at one place the later one shows.
    if (covers && mountPoint.length >= ofRoot.mountPoint.length) ofRoot = { device: device ?? source, mountPoint };
  }
  if (ofRoot.device !== "" && !found.has(ofRoot.device)) found.set(ofRoot.device, ofRoot.mountPoint);
  return [...found].map(([device, mountPoint]) => ({ device, mountPoint }));
}

/** Unreadable ones are left out. */
export async function readFileSystems(
  read: ReadText,
  rootDir: string,
  figures: (path: string) => Promise<FsFigures | undefined>,
): Promise<(FsFigures & { device: string })[]> {
  const systems = nodeFileSystems(read("/proc/self/mountinfo") ?? "", rootDir);
  const found = await Promise.all(
    systems.map(async ({ device, mountPoint }) => {
      const fs = await figures(mountPoint);
      return fs === undefined ? [] : [{ ...fs, device }];
    }),
  );
  return found.flat();
}
