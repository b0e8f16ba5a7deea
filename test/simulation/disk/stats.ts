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

/** The kind of an entry, as Stats and Dirent tell it. */
class KindWords {
  constructor(private readonly kind: Kind) {}
  isFile(): boolean {
    return this.kind === "file";
  }
  isDirectory(): boolean {
    return this.kind === "directory";
  }
  isSymbolicLink(): boolean {
    return this.kind === "link";
  }
  isSocket(): boolean {
    return this.kind === "socket";
  }
  isFIFO(): boolean {
    return false;
  }
  isBlockDevice(): boolean {
    return false;
  }
  isCharacterDevice(): boolean {
    return false;
  }
}

function sizeOf(inode: Inode): number {
  return inode.kind === "link" ? inode.target.length : inode.size;
}

class SimulatedStats extends KindWords {
  readonly rdev = 0;
  readonly blksize = 4096;
  readonly dev: number;
  readonly ino: number;
  readonly mode: number;
  readonly nlink: number;
  readonly uid: number;
  readonly gid: number;
  readonly size: number;
  readonly blocks: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;

  constructor(inode: Inode) {
    super(inode.kind);
    this.dev = deviceOf(inode.fileSystem);
    this.ino = inode.number;
    this.mode = TYPES[inode.kind] | inode.mode;
    this.nlink = inode.links;
    this.uid = inode.uid;
    this.gid = inode.gid;
    this.size = sizeOf(inode);
    this.blocks = Math.ceil(this.size / 512);
    this.mtimeMs = inode.modifiedAt;
    this.ctimeMs = inode.changedAt;
  }
  get atimeMs(): number {
    return this.mtimeMs;
  }
  get birthtimeMs(): number {
    return this.ctimeMs;
  }
  get atime(): Date {
    return new Date(this.mtimeMs);
  }
  get mtime(): Date {
    return new Date(this.mtimeMs);
  }
  get ctime(): Date {
    return new Date(this.ctimeMs);
  }
  get birthtime(): Date {
    return new Date(this.ctimeMs);
  }
}

const big = (value: number): bigint => BigInt(Math.trunc(value));

/** Each member is made when it is read: few are. */
class SimulatedBigStats extends KindWords {
  readonly small: SimulatedStats;
  constructor(inode: Inode) {
    super(inode.kind);
    this.small = new SimulatedStats(inode);
  }
}

const NUMBERS = ["dev", "ino", "mode", "nlink", "uid", "gid", "rdev", "size", "blksize", "blocks"] as const;
for (const name of [...NUMBERS, "atimeMs", "mtimeMs", "ctimeMs", "birthtimeMs"] as const) {
  Object.defineProperty(SimulatedBigStats.prototype, name, {
    get(this: { small: SimulatedStats }) {
      return big(this.small[name]);
    },
  });
}
for (const name of ["atime", "mtime", "ctime", "birthtime"] as const) {
  Object.defineProperties(SimulatedBigStats.prototype, {
    [name]: {
      get(this: { small: SimulatedStats }) {
        return this.small[name];
      },
    },
    [`${name}Ns`]: {
      get(this: { small: SimulatedStats }) {
        return big(this.small[`${name}Ms`] * 1e6);
      },
    },
  });
}

export function statsOf(inode: Inode): Stats {
  return new SimulatedStats(inode);
}

export function bigStatsOf(inode: Inode): BigIntStats {
  return new SimulatedBigStats(inode) as never;
}

export function direntOf(name: string, folder: string, inode: Inode): Dirent {
  return Object.assign(new KindWords(inode.kind), { name, parentPath: folder }) as never;
}
