// mount(2) and umount2(2) without a mount program. Both run on libuv's pool: a slow file system does not stop the loop.

import { libcOnPool } from "./libc.js";

const MOUNT_FLAGS = {
  readOnly: 1 << 0,
  noSuid: 1 << 1,
  noDev: 1 << 2,
  noExec: 1 << 3,
  synchronous: 1 << 4,
  remount: 1 << 5,
  noAtime: 1 << 10,
  bind: 1 << 12,
  move: 1 << 13,
  recursive: 1 << 14,
  private: 1 << 18,
  slave: 1 << 19,
  shared: 1 << 20,
  relAtime: 1 << 21,
} as const;
type MountFlag = keyof typeof MOUNT_FLAGS;

const UNMOUNT_FLAGS = {
  /** Network file systems whose server is unreachable. */
  force: 1,
  /** Detached now, unmounted when no longer busy. */
  detach: 2,
  /** A symbolic link as target is not followed. */
  noFollow: 8,
} as const;
export type UnmountFlag = keyof typeof UNMOUNT_FLAGS;

export interface MountRequest {
  /** Device, directory to bind, or any word for a file system without one. */
  source: string;
  target: string;
  /** "tmpfs", "ext4", …; not for bind, move, remount and propagation. */
  type?: string;
  flags?: readonly MountFlag[];
  /** The file system's own options: "size=64m,mode=0755". */
  data?: string;
}

/** Rejects with OsCallError. The kernel ignores readOnly on a first bind: remount + bind + readOnly must follow. */
export async function mount(request: MountRequest): Promise<void> {
  const { source, target, type = null, flags = [], data = null } = request;
  const bits = flags.reduce((sum, flag) => sum | MOUNT_FLAGS[flag], 0);
  await libcOnPool("mount", `${source} on ${target}`, source, target, type, bits, data);
}

/** Rejects with OsCallError: EINVAL when nothing is mounted there, EBUSY while it is used. */
export async function unmount(target: string, flags: readonly UnmountFlag[] = []): Promise<void> {
  const bits = flags.reduce((sum, flag) => sum | UNMOUNT_FLAGS[flag], 0);
  await libcOnPool("umount2", target, target, bits);
}
