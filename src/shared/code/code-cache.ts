// V8's code cache of one script, in a file beside it: with it a thread compiles nothing that the build has compiled (docs/adr/0057).
// The name has V8's tag (version, flags, processor): for another Node there is no file, and the code is compiled as usual.
// Invariant: V8 gets only bytes that were written as they are: it checks their version, but a damaged cache crashes it.
import { cachedDataVersionTag } from "node:v8";
import { crc32 } from "node:zlib";

/** CRC-32 of what follows, and padding: V8 copies data that is not aligned. */
const HEADER_BYTES = 8;

/** The cache of the script `file` for this process's version and flags of V8. */
export function cachePath(file: string): string {
  return `${file}.${cachedDataVersionTag().toString(16).padStart(8, "0")}.cache`;
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
