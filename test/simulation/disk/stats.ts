// stat(2) of an inode, as numbers or bigints.

import type { BigIntStats, Dirent, Stats } from "node:fs";
import type { Inode, Kind } from "./inode.js";

const TYPES: Readonly<Record<Kind, number>> = { file: 0o100000, directory: 0o040000, link: 0o120000, socket: 0o140000 };
const DEVICES = new Map<string, number>();

/** The device number of a file system. */
function deviceOf(fileSystem: string): number {
  const known = DEVICES.get(fileSystem);
  if (known !== undefined) return known;
  const number = 2049 + DEVICES.size;
  DEVICES.set(fileSystem, number);
  return number;
}

function kindOf(kind: Kind) {
  return {
    isFile: () => kind === "file",
    isDirectory: () => kind === "directory",
    isSymbolicLink: () => kind === "link",
    isSocket: () => kind === "socket",
    isFIFO: () => false,
    isBlockDevice: () => false,
    isCharacterDevice: () => false,
  };
}

export function statsOf(inode: Inode): Stats {
  const { kind, mode, uid, gid, number, links, modifiedAt, changedAt, fileSystem } = inode;
  const size = kind === "link" ? inode.target.length : inode.data.length;
  return {
    ...kindOf(kind),
    dev: deviceOf(fileSystem),
    ino: number,
    mode: TYPES[kind] | mode,
    nlink: links,
    uid,
    gid,
    rdev: 0,
    size,
    blksize: 4096,
    blocks: Math.ceil(size / 512),
    atimeMs: modifiedAt,
    mtimeMs: modifiedAt,
    ctimeMs: changedAt,
    birthtimeMs: changedAt,
    atime: new Date(modifiedAt),
    mtime: new Date(modifiedAt),
    ctime: new Date(changedAt),
    birthtime: new Date(changedAt),
  };
}

export function bigStatsOf(inode: Inode): BigIntStats {
  const small = statsOf(inode);
  const big: Record<string, unknown> = Object.fromEntries(Object.entries(small));
  for (const [name, value] of Object.entries(small)) {
    if (typeof value === "number") big[name] = BigInt(Math.trunc(value));
  }
  for (const name of ["atime", "mtime", "ctime", "birthtime"]) {
    const ms = small[`${name}Ms` as "mtimeMs"];
    big[`${name}Ns`] = BigInt(Math.trunc(ms * 1e6));
  }
  return big as never;
}

export function direntOf(name: string, folder: string, inode: Inode): Dirent {
  return { name, parentPath: folder, ...kindOf(inode.kind) } as never;
}
