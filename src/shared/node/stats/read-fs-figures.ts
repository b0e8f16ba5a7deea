// Capacity and usage of a file system.

import { statfs } from "fs/promises";
import type { FileSystemFacts } from "../volume-calls/operations.js";
import type { FsFigures } from "./fs-figures.js";

/** Rejects when there is nothing at the path. */
export async function fsFigures(path: string, at: number): Promise<FsFigures> {
  return figuresOf(await statfs(path), at);
}

export function figuresOf({ bsize, blocks, bfree, bavail, files, ffree }: FileSystemFacts, at: number): FsFigures {
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
