// V8's code cache of one script, in a file beside it. With it a thread compiles nothing that the build has compiled
// (docs/adr/0057). The name has V8's version: for another Node there is no file, and the code is compiled as usual. V8
// itself checks whether a cache fits the flags. V8's tag (cachedDataVersionTag) cannot serve as the name. It differs
// between processors on which the same cache works, and packages are built on another machine (docs/adr/0062).
// Invariant: V8 gets only undamaged bytes. It checks their version itself, but a damaged cache crashes it.

import { crc32 } from "node:zlib";

/** CRC-32 of what follows, and padding: V8 copies data that is not aligned. */
const HEADER_BYTES = 8;

/** The cache of the script `file` for this process's version of V8. */
export function cachePath(file: string): string {
  return `${file}.${process.versions.v8}-${process.arch}.cache`;
}

export function sealCache(data: Uint8Array): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(crc32(data));
  return Buffer.concat([header, data]);
}

/** undefined: the file is damaged. */
export function openCache(file: Buffer): Buffer | undefined {
  if (file.length <= HEADER_BYTES) return undefined;
  const data = file.subarray(HEADER_BYTES);
  return crc32(data) === file.readUInt32LE(0) ? data : undefined;
}
