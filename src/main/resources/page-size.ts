// The size of the kernel's memory pages: 4 KiB on x86-64, up to 64 KiB on arm64. The kernel keeps byte values of
// cgroups in whole pages.
// Source: https://man7.org/linux/man-pages/man3/getauxval.3.html (AT_PAGESZ)

import { readFile } from "fs/promises";

/** The smallest of any architecture that Node.js runs on. */
export const SMALLEST_PAGE = 4096n;

const AT_PAGESZ = 6n;
const AT_NULL = 0n;
const BITS_32: readonly string[] = ["arm", "ia32", "mips", "mipsel", "ppc", "s390"];

/** Bytes, of the running kernel. */
export async function readPageSize(path = "/proc/self/auxv"): Promise<bigint> {
  const vector = await readFile(path).catch(() => Buffer.alloc(0));
  return pageSizeIn(vector, BITS_32.includes(process.arch) ? 4 : 8) ?? SMALLEST_PAGE;
}

/** The auxiliary vector as pairs of machine words: type and value. undefined: the vector has no page size. @internal */
export function pageSizeIn(vector: Buffer, wordBytes: 4 | 8): bigint | undefined {
  const view = new DataView(vector.buffer, vector.byteOffset, vector.byteLength);
  const word = (at: number): bigint =>
    wordBytes === 8 ? view.getBigUint64(at, LITTLE_ENDIAN) : BigInt(view.getUint32(at, LITTLE_ENDIAN));
  for (let at = 0; at + 2 * wordBytes <= vector.length; at += 2 * wordBytes) {
    const type = word(at);
    if (type === AT_NULL) return undefined;
    if (type === AT_PAGESZ) return word(at + wordBytes);
  }
  return undefined;
}

const LITTLE_ENDIAN = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;
