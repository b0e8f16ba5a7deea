// A tar archive of small files with short names (ustar), in memory. Pure.

export interface ArchivedFile {
  /** At most 99 bytes. */
  name: string;
  content: string;
}

const BLOCK = 512;

export function tar(files: readonly ArchivedFile[], mtimeMs: number): Buffer {
  const parts = files.flatMap(({ name, content }) => {
    const bytes = Buffer.from(content);
    const padding = Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK);
    return [header(name, bytes.length, mtimeMs), bytes, padding];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]);
}

function header(name: string, size: number, mtimeMs: number): Buffer {
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, length: number): string =>
    `${Math.floor(value)
      .toString(8)
      .padStart(length - 1, "0")}\0`;
  block.write(name, 0, 99);
  block.write(octal(0o600, 8), 100);
  block.write(octal(0, 8), 108);
  block.write(octal(0, 8), 116);
  block.write(octal(size, 12), 124);
  block.write(octal(mtimeMs / 1000, 12), 136);
  block.write("        ", 148);
  block.write("0", 156);
  block.write("ustar\x0000", 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}
