// Files of a staged package: written with fixed rights, and with one time for all of them.

import { chmod, lstat, lutimes, mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";

/** Writes a file and the folders above it. */
export async function put(path: string, text: string | Uint8Array, rights = 0o644): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  await chmod(path, rights);
}

/** As `gzip -9n`: without name and time. */
export function gzipped(text: string): Buffer {
  return gzipSync(text, { level: 9 });
}

/** Paths of all files and links below `folder`, relative to it, sorted by their bytes. */
export async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory());
  return files.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1)).sort(byBytes);
}

/** Folders 0755, files 0755 or 0644, and everything of the same time, independent of umask and clock. */
export async function settle(folder: string, epoch: number): Promise<void> {
  const names = await readdir(folder, { recursive: true });
  for (const name of [...names, ""]) {
    const path = join(folder, name);
    const stats = await lstat(path);
    if (!stats.isSymbolicLink()) await chmod(path, stats.isDirectory() || (stats.mode & 0o111) !== 0 ? 0o755 : 0o644);
  }
  // Afterwards, from the innermost: a change in a folder sets its time.
  for (const name of [...names.sort(byBytes).reverse(), ""]) await lutimes(join(folder, name), epoch, epoch);
}

/** Size of all files in KiB, each rounded up: dpkg's Installed-Size. */
export async function installedKiB(folder: string): Promise<number> {
  let sum = 0;
  for (const file of await filesBelow(folder)) sum += Math.ceil((await stat(join(folder, file))).size / 1024);
  return sum;
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
