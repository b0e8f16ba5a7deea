// How full a file system is.
import { statfs } from "node:fs/promises";
import type { FsFigures } from "./fs-figures.js";

/** Rejects when there is nothing at the path. */
export async function fsFigures(path: string, at: number): Promise<FsFigures> {
  const { bsize, blocks, bfree, bavail, files, ffree } = await statfs(path);
  return {
    at,
    capacityBytes: blocks * bsize,
    availableBytes: bavail * bsize,
    usedBytes: (blocks - bfree) * bsize,
    inodes: files,
    inodesFree: ffree,
    inodesUsed: files - ffree,
  };
}
