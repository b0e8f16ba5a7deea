// The calls of node:fs on the simulated disk, synchronous. fs.ts and fs-promises.ts give them Node's two forms.

import type { BigIntStats, Dirent, Stats } from "node:fs";
import { SystemError } from "../disk/errors.js";
import { Inode } from "../disk/inode.js";
import { disk } from "../disk/machine-disk.js";
import { BLOCK } from "../disk/room.js";
import { bigStatsOf, direntOf, statsOf } from "../disk/stats.js";
import { contentOf } from "../disk/tree.js";
import { kernel } from "../kernel/kernel.js";
import { openFlags } from "./open-flags.js";

export type PathLike = string | Buffer | URL;
export type Encoding = BufferEncoding | { encoding?: BufferEncoding | null; flag?: string } | null | undefined;
interface ReaddirOptions {
  withFileTypes?: boolean;
  /** Only with types. */
  recursive?: boolean;
}
interface WriteOptions {
  mode?: number;
  flag?: string | number;
}

const { tree } = disk;

export function textOf(path: PathLike): string {
  return Buffer.isBuffer(path) ? path.toString("utf8") : typeof path === "string" ? path : path.pathname;
}

function encoded(bytes: Buffer, options: Encoding): Buffer | string {
  const encoding = typeof options === "string" ? options : options?.encoding;
  return encoding === undefined || encoding === null ? Buffer.from(bytes) : bytes.toString(encoding);
}

export const calls = {
  readFile: (path: PathLike | number, options?: Encoding): Buffer | string => {
    const inode = typeof path === "number" ? tree.descriptor(path, "read").inode : tree.lookUp(textOf(path), "open");
    if (inode.kind === "directory") throw new SystemError("EISDIR", "read", String(path));
    if (inode.text !== undefined && options === "utf8") return inode.text();
    return encoded(contentOf(inode), options);
  },
  writeFile: (path: PathLike | number, data: string | Uint8Array, options: WriteOptions | string = {}): void => {
    const { mode = 0o666, flag = "w" } = typeof options === "string" ? {} : options;
    const bytes = typeof data === "string" ? Buffer.from(data) : Buffer.from(data);
    if (typeof path === "number") {
      tree.write(path, bytes, null);
      return;
    }
    const fd = tree.open(textOf(path), openFlags(flag), mode & ~0o022);
    tree.write(fd, bytes, null);
    tree.close(fd);
  },
  open: (path: PathLike, flags?: string | number, mode = 0o666): number => {
    return tree.open(textOf(path), openFlags(flags), mode & ~0o022);
  },
  mkdir: (path: PathLike, options: { recursive?: boolean; mode?: number } | number = {}): string | undefined => {
    const { recursive = false, mode = 0o777 } = typeof options === "number" ? { mode: options } : options;
    const whole = textOf(path);
    if (!recursive) {
      tree.makeDirectory(whole, mode & ~0o022);
      return undefined;
    }
    let first: string | undefined;
    let at = "";
    for (const part of whole.split("/").filter((one) => one !== "")) {
      at += `/${part}`;
      if (tree.exists(at)) {
        if (tree.lookUp(at, "mkdir").kind !== "directory") throw new SystemError("ENOTDIR", "mkdir", whole);
        continue;
      }
      tree.makeDirectory(at, mode & ~0o022);
      first ??= at;
    }
    return first;
  },
  mkdtemp: (prefix: PathLike): string => {
    const path = `${textOf(prefix)}${kernel.random.bytes(3).toString("hex")}`;
    tree.makeDirectory(path, 0o700);
    return path;
  },
  readdir: (path: PathLike, options?: ReaddirOptions | string): string[] | Dirent[] => {
    const folder = textOf(path);
    const inode = tree.lookUp(folder, "scandir");
    if (inode.kind !== "directory") throw new SystemError("ENOTDIR", "scandir", folder);
    const { withFileTypes = false, recursive = false } = typeof options === "object" ? options : {};
    if (!withFileTypes) return [...inode.entries.keys()];
    const entries = [...inode.entries].map(([name, entry]) => direntOf(name, folder, entry));
    if (!recursive) return entries;
    const below = entries.filter((one) => one.isDirectory()).map(({ name }) => `${folder}/${name}`);
    return [...entries, ...below.flatMap((one) => calls.readdir(one, options) as Dirent[])];
  },
  stat: (path: PathLike, options?: { bigint?: boolean }): Stats | BigIntStats => {
    const inode = tree.lookUp(textOf(path), "stat");
    return options?.bigint === true ? bigStatsOf(inode) : statsOf(inode);
  },
  lstat: (path: PathLike, options?: { bigint?: boolean }): Stats | BigIntStats => {
    const inode = tree.lookUp(textOf(path), "lstat", false);
    return options?.bigint === true ? bigStatsOf(inode) : statsOf(inode);
  },
  fstat: (fd: number, options?: { bigint?: boolean }): Stats | BigIntStats => {
    const { inode } = tree.descriptor(fd, "fstat");
    return options?.bigint === true ? bigStatsOf(inode) : statsOf(inode);
  },
  statfs: (path: PathLike, options?: { bigint?: boolean }): object => {
    const whole = textOf(path);
    const { fileSystem } = tree.lookUp(whole, "statfs");
    const numbers = { type: whole.startsWith("/sys/fs/cgroup") ? 0x63677270 : 0xef53, ...sizes(whole, fileSystem) };
    if (options?.bigint !== true) return numbers;
    return Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, BigInt(value)]));
  },
  access: (path: PathLike): void => {
    tree.lookUp(textOf(path), "access");
  },
  readlink: (path: PathLike): string => {
    const inode = tree.lookUp(textOf(path), "readlink", false);
    if (inode.kind !== "link") throw new SystemError("EINVAL", "readlink", textOf(path));
    return inode.target;
  },
  realpath: (path: PathLike): string => {
    return tree.realPath(textOf(path));
  },
  symlink: (target: PathLike, path: PathLike): void => {
    const inode = new Inode("link", 0o777, tree.find(textOf(path), "symlink", false).parent.fileSystem);
    inode.target = textOf(target);
    tree.make(textOf(path), inode, "symlink");
  },
  link: (from: PathLike, to: PathLike): void => {
    tree.hardLink(textOf(from), textOf(to));
  },
  unlink: (path: PathLike): void => {
    tree.unlink(textOf(path));
  },
  rmdir: (path: PathLike): void => {
    tree.removeDirectory(textOf(path));
  },
  rm: (path: PathLike, options: { recursive?: boolean; force?: boolean } = {}): void => {
    const whole = textOf(path);
    const { inode } = findOrNone(whole);
    if (inode === undefined) {
      if (options.force === true) return;
      throw new SystemError("ENOENT", "rm", whole);
    }
    removeAll(whole, inode, options.recursive === true);
  },
  rename: (from: PathLike, to: PathLike): void => {
    tree.rename(textOf(from), textOf(to));
  },
  chmod: (path: PathLike, mode: number): void => {
    tree.lookUp(textOf(path), "chmod").mode = mode & 0o7777;
  },
  chown: (path: PathLike, uid: number, gid: number): void => {
    Object.assign(tree.lookUp(textOf(path), "chown"), { uid, gid });
  },
};

function sizes(path: string, fileSystem: string): Record<string, number> {
  const room = disk.roomAt?.(path, fileSystem);
  if (room === undefined) {
    const free = 20_000_000;
    return { bsize: BLOCK, blocks: 25_000_000, bfree: free, bavail: free, files: 6_000_000, ffree: 5_000_000 };
  }
  const free = Math.floor(room.freeBytes / BLOCK);
  const blocks = Math.floor(room.bytes / BLOCK);
  return { bsize: BLOCK, blocks, bfree: free, bavail: free, files: room.inodes, ffree: room.freeInodes };
}

function findOrNone(path: string): { inode: Inode | undefined } {
  try {
    return tree.find(path, "rm", false);
  } catch (error) {
    if (error instanceof SystemError && error.code === "ENOENT") return { inode: undefined };
    throw error;
  }
}

function removeAll(path: string, inode: Inode, recursive: boolean): void {
  if (inode.kind !== "directory") {
    tree.unlink(path);
    return;
  }
  if (!recursive) throw new SystemError("ERR_FS_EISDIR", "rm", path);
  for (const [name, entry] of [...inode.entries]) removeAll(`${path}/${name}`, entry.mounted ?? entry, true);
  tree.removeDirectory(path);
}
