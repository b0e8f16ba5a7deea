// The agent's reading of directories in pieces (src/shared/io/os/directory-stream.ts) on the simulated machine. A
// position is the number of entries before it.

import { disk } from "../disk/machine-disk.js";

export const entryKind = { unknown: 0, directory: 4, link: 10 } as const;

interface DirectoryEntry {
  name: string;
  kind: number;
  next: bigint;
}

const KINDS: Readonly<Record<string, number>> = { directory: entryKind.directory, link: entryKind.link };
/** Bytes before the name of an entry in the buffer: where the next one begins, and the entry's position and kind. */
const NEXT = 4;
const KIND = 12;
const NAME = 16;

export function seekDirectory(fd: number, position: bigint): void {
  disk.tree.descriptor(fd, "lseek").position = Number(position);
}

export function fillEntries(fd: number, buffer: Buffer): number {
  const descriptor = disk.tree.descriptor(fd, "getdents");
  let filled = 0;
  for (const [name, inode] of [...descriptor.inode.entries].slice(descriptor.position)) {
    const bytes = Buffer.from(name);
    const end = filled + NAME + bytes.length;
    if (end > buffer.length) break;
    buffer.writeUInt32LE(end, filled);
    buffer.writeBigInt64LE(BigInt(++descriptor.position), filled + NEXT);
    buffer.writeUInt32LE(KINDS[inode.kind] ?? entryKind.unknown, filled + KIND);
    bytes.copy(buffer, filled + NAME);
    filled = end;
  }
  return filled;
}

export function entryAt(buffer: Buffer, at: number): { entry: DirectoryEntry; end: number } {
  const end = buffer.readUInt32LE(at);
  const entry = {
    name: buffer.toString("latin1", at + NAME, end),
    kind: buffer.readUInt32LE(at + KIND),
    next: buffer.readBigInt64LE(at + NEXT),
  };
  return { entry, end };
}
