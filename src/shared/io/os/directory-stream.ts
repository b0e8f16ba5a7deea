// Reads a directory in pieces, from a position that is a number. Another thread, with another descriptor of the same
// directory, can continue there. Node's Dir has no position. Invariant: an entry that exists from beginning to end is
// returned once; one that comes or is removed meanwhile, once or never.

import { libc } from "./libc.js";

/** The kernel's kinds of entries; a file system may not report them. */
export const entryKind = { unknown: 0, directory: 4, link: 10 } as const;

export interface DirectoryEntry {
  /** One character per byte. */
  name: string;
  kind: number;
  /** The position after this entry. */
  next: bigint;
}

const SEEK_SET = 0;
const GETDENTS64 = process.arch === "arm64" ? 61 : 217;

/** Offsets in struct linux_dirent64. */
const NEXT = 8;
const LENGTH = 16;
const KIND = 18;
const NAME = 19;

/** Makes the next read begin at a position that an entry gave; 0n is the beginning. @throws OsCallError */
export function seekDirectory(fd: number, position: bigint): void {
  libc("lseek", "position in a directory", fd, position, SEEK_SET);
}

/** Fills the buffer with entries; returns how many bytes of it are filled, 0 at the end. @throws OsCallError */
export function fillEntries(fd: number, buffer: Buffer): number {
  return libc("syscall", "entries of a directory", GETDENTS64, fd, buffer, buffer.length);
}

/** The entry at that byte of a filled buffer, and the byte where the next one begins. */
export function entryAt(buffer: Buffer, at: number): { entry: DirectoryEntry; end: number } {
  const end = at + buffer.readUInt16LE(at + LENGTH);
  const zero = buffer.indexOf(0, at + NAME);
  const entry = {
    name: buffer.toString("latin1", at + NAME, zero < 0 || zero > end ? end : zero),
    kind: buffer.readUInt8(at + KIND),
    next: buffer.readBigInt64LE(at + NEXT),
  };
  return { entry, end };
}
