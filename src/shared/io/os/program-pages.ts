// The pages of the program's own file (code and constants of Node) that this process has mapped. Most are of its start
// and are not used again, and the kernel maps their neighbours with them. Given back, they stay in the page cache and
// are mapped again when they are used (docs/adr/0121).
// Invariant: only mappings that cannot be written, and never could be, are given back: their pages are those of the
// file. The loader writes into pages of the writable segment before it protects them (RELRO), so these are left out.

import { open, readFile, readlink } from "node:fs/promises";
import { libcOnPool } from "./libc.js";

export interface Range {
  /** Address. */
  start: number;
  /** Bytes. */
  length: number;
}

/** asm-generic/mman-common.h: the same on x64 and arm64. */
const MADV_DONTNEED = 4;
/** Bytes that one call gives back, so that no page fault of another thread waits for long. */
const SLICE_BYTES = 1 << 20;
const PAGE_BYTES = 4096;
const HEAD_BYTES = 64 * 1024;

/** Reads which ranges may be given back. Empty: the program is no 64-bit little-endian ELF file. */
export async function programRanges(): Promise<Range[]> {
  const [maps, path] = await Promise.all([readFile("/proc/self/maps", "utf8"), readlink("/proc/self/exe")]);
  return rangesIn(maps, path, writableParts(await headOf("/proc/self/exe")));
}

async function headOf(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Resident bytes of this process that are pages of files: proc_pid_statm(5), in pages of `pageBytes`. */
export async function residentFileBytes(pageBytes = PAGE_BYTES): Promise<number> {
  return Number((await readFile("/proc/self/statm", "utf8")).split(" ")[2]) * pageBytes;
}

/** Gives them back, slice after slice. Rejects with OsCallError or NativeBindingError. */
export async function releaseProgramPages(ranges: readonly Range[]): Promise<void> {
  for (const { start, length } of ranges) {
    for (let at = 0; at < length; at += SLICE_BYTES) {
      const bytes = Math.min(SLICE_BYTES, length - at);
      await libcOnPool("madvise", "the pages of the program", start + at, bytes, MADV_DONTNEED);
    }
  }
}

/** Parts of a file, in bytes. */
type Part = readonly [begin: number, end: number];

/** What the writable segments of an ELF file take, rounded to pages; undefined: it is no such file. @internal */
export function writableParts(head: Buffer): Part[] | undefined {
  const is64BitLittleEndian =
    head.length >= 64 && head.readUInt32BE(0) === 0x7f_45_4c_46 && head.readUInt16BE(4) === 0x0201;
  if (!is64BitLittleEndian) return undefined;
  const [at, size, count] = [Number(head.readBigUInt64LE(32)), head.readUInt16LE(54), head.readUInt16LE(56)];
  if (at + size * count > head.length || size < 56) return undefined;
  const parts: Part[] = [];
  for (let index = 0; index < count; index++) {
    const header = head.subarray(at + index * size, at + (index + 1) * size);
    const [type, flags] = [header.readUInt32LE(0), header.readUInt32LE(4)];
    // PT_LOAD, PF_W
    if (type !== 1 || (flags & 2) === 0) continue;
    const begin = Number(header.readBigUInt64LE(8));
    const end = begin + Number(header.readBigUInt64LE(32));
    parts.push([Math.floor(begin / PAGE_BYTES) * PAGE_BYTES, Math.ceil(end / PAGE_BYTES) * PAGE_BYTES]);
  }
  return parts;
}

/**
 * The mappings that the loader made of the file, without those of its writable parts. V8 maps a part of the code once
 * more, elsewhere: that is left alone. @internal
 */
export function rangesIn(maps: string, path: string, writable: readonly Part[] | undefined): Range[] {
  if (writable === undefined) return [];
  const ranges: Range[] = [];
  for (const line of maps.split("\n")) {
    const found = /^([0-9a-f]+)-([0-9a-f]+) (\S{4}) ([0-9a-f]+) \S+ \d+ +(\S.*)$/.exec(line);
    const isOwn = found?.[5] === path;
    // The loader's mappings follow each other, and come first.
    if (!isOwn && ranges.length > 0) break;
    if (!isOwn) continue;
    const [, start = "", end = "", access = "", offset = ""] = found;
    const [from, length] = [Number.parseInt(offset, 16), Number.parseInt(end, 16) - Number.parseInt(start, 16)];
    const overlaps = writable.some(([begin, until]) => from < until && from + length > begin);
    if (/^r-[x-]p$/.test(access) && !overlaps) ranges.push({ start: Number.parseInt(start, 16), length });
  }
  return ranges;
}
