// Room on a file system, as ext4 has it without reserved blocks. A full one takes neither another block of data nor
// another inode; its files can still be read, renamed, cut and removed.

import { SystemError } from "./errors.js";

/** Size of a file system, and its free part. */
export interface Room {
  bytes: number;
  freeBytes: number;
  inodes: number;
  freeInodes: number;
}

/** Bytes of a block. */
export const BLOCK = 4096;

/** What a call needs: blocks of data, and inodes. */
export interface Need {
  blocks: number;
  inodes: number;
}

/** Blocks that a file of so many bytes has. */
export function blocksOf(bytes: number): number {
  return Math.ceil(bytes / BLOCK);
}

/** @throws SystemError ENOSPC */
export function requireRoom(
  { freeBytes, freeInodes }: Room,
  { blocks, inodes }: Need,
  call: string,
  path: string,
): void {
  if (blocks > Math.floor(freeBytes / BLOCK) || inodes > freeInodes) throw new SystemError("ENOSPC", call, path);
}
