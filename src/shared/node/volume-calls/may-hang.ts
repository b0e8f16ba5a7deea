// Finds the mounts on which a system call may wait for ever: those of a server, driver or network disk.
// Invariant: a path is looked at component by component, and no component on such a mount is touched. The mount table
// is the kernel's own and never hangs.

import { readlink as readLink } from "node:fs/promises";
import { readMountTable, unescapeMountField } from "../../io/fs/mountinfo.js";

export interface HangableMount {
  /** Device number of the file system: bind mounts of it share it, and its fate. */
  device: string;
  mountPoint: string;
  fsType: string;
  source: string;
}

/** On a disk of the node or in its memory. All other types count as network file systems. */
const LOCAL_TYPES = new Set(
  (
    "autofs bcachefs binfmt_misc bpf btrfs cgroup cgroup2 configfs cpuset debugfs devpts devtmpfs efivarfs erofs exfat " +
    "ext2 ext3 ext4 f2fs fusectl hugetlbfs iso9660 mqueue nsfs overlay proc pstore ramfs resctrl rootfs rpc_pipefs " +
    "securityfs selinuxfs squashfs sysfs tmpfs tracefs udf vfat xfs zfs"
  ).split(" "),
);
/** Directories in which CSI and local volumes are mounted. A local file system type there may be on a network disk. */
const VOLUME_DIRECTORIES = ["/kubernetes.io~csi/", "/kubernetes.io/csi/", "/kubernetes.io~local-volume/"];
const LONGEST_CHAIN = 40;

/** By mount point. "/" is left out: without it nothing works anyway. */
export type HangableMounts = ReadonlyMap<string, HangableMount>;

/** Linear in the text; lines that are not of the documented form are left out. @internal */
export function parseHangable(text: string): HangableMounts {
  const found = new Map<string, HangableMount>();
  for (let at = 0; at < text.length;) {
    const newline = text.indexOf("\n", at);
    const end = newline === -1 ? text.length : newline;
    const mount = parseLine(text.slice(at, end));
    if (mount !== undefined) found.set(mount.mountPoint, mount);
    at = end + 1;
  }
  return found;
}

function parseLine(line: string): HangableMount | undefined {
  const dash = line.indexOf(" - ");
  if (dash === -1) return undefined;
  const [fsType = "", source = ""] = line.slice(dash + 3).split(" ", 2);
  const isLocal = LOCAL_TYPES.has(fsType);
  if (fsType === "" || (isLocal && !VOLUME_DIRECTORIES.some((directory) => line.includes(directory)))) return undefined;
  const [, , device, , point] = line.slice(0, dash).split(" ", 5);
  if (device === undefined || point === undefined || point === "/") return undefined;
  const mountPoint = unescapeMountField(point);
  if (isLocal && !VOLUME_DIRECTORIES.some((directory) => mountPoint.includes(directory))) return undefined;
  return { device, mountPoint, fsType, source: unescapeMountField(source) };
}

let last: { text: string; mounts: HangableMounts } = { text: "", mounts: new Map() };

export async function readHangable(): Promise<HangableMounts> {
  const text = await readMountTable();
  if (text !== last.text) last = { text, mounts: parseHangable(text) };
  return last.mounts;
}

/** The mount that a call on the path may wait for, links followed; undefined: the call returns. */
export async function mountThatMayHang(path: string): Promise<HangableMount | undefined> {
  return await findHangable(path, { mounts: await readHangable() });
}

/**
 * The first mount on the way to `path` (links resolved), or, with `below`, at any place under it, that may hang.
 * undefined: calls on the path return. Rejects with what readlink(2) says but for missing files.
 */
export async function findHangable(
  path: string,
  {
    below = false,
    mounts,
    readlink = readLink,
  }: { below?: boolean; mounts: HangableMounts; readlink?: (path: string) => Promise<string> },
): Promise<HangableMount | undefined> {
  if (mounts.size === 0) return undefined;
  const ahead = path.split("/").reverse();
  let here = "";
  let links = 0;
  for (let part = ahead.pop(); part !== undefined; part = ahead.pop()) {
    if (part === "" || part === ".") continue;
    if (part === "..") {
      here = here.slice(0, Math.max(0, here.lastIndexOf("/")));
      continue;
    }
    const next = `${here}/${part}`;
    const mount = mounts.get(next);
    if (mount !== undefined) return mount;
    const target = await linkAt(next, readlink);
    // A path that does not exist cannot hang; the kernel refuses longer chains of links.
    if (target === undefined || links > LONGEST_CHAIN) return undefined;
    if (target === "") here = next;
    else {
      links++;
      if (target.startsWith("/")) here = "";
      ahead.push(...target.split("/").reverse());
    }
  }
  return below ? firstBelow(mounts, here) : undefined;
}

function firstBelow(mounts: HangableMounts, directory: string): HangableMount | undefined {
  for (const mount of mounts.values()) if (mount.mountPoint.startsWith(`${directory}/`)) return mount;
  return undefined;
}

/** Returns "" if the path is not a link, undefined if it does not exist. */
async function linkAt(path: string, readlink: (path: string) => Promise<string>): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EINVAL") return "";
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
}
