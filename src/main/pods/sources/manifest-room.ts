// How many bytes the manifest files of a folder may have together. Main keeps a static pod's definition as long as its
// file is there, also when the pod has ended (docs/adr/0108).
// Invariant: a file that was accepted keeps its place until it goes, or has a version that fits.

import { lstat } from "node:fs/promises";
import { MANIFESTS_BYTES } from "../../../shared/contracts/manifests.js";

/** Files whose state is read at once. */
const AT_ONCE = 64;

export class ManifestRoom {
  private readonly bytes = new Map<string, number>();
  private sum = 0;

  /** @returns false if the file does not fit: it keeps the room that it had */
  takes(path: string, bytes: number): boolean {
    const others = this.sum - this.of(path);
    if (others + bytes > MANIFESTS_BYTES) return false;
    this.sum = others + bytes;
    this.bytes.set(path, bytes);
    return true;
  }

  /** Bytes that the file has. */
  of(path: string): number {
    return this.bytes.get(path) ?? 0;
  }

  releases(path: string): void {
    this.sum -= this.of(path);
    this.bytes.delete(path);
  }

  /**
   * At a start: the files that were changed first have their room before others are read. They are those that the
   * kubelet accepted before, and their pods run.
   */
  async reserve(paths: readonly string[]): Promise<void> {
    const files: { path: string; size: number; mtimeMs: number }[] = [];
    for (let from = 0; from < paths.length; from += AT_ONCE) {
      const found = paths.slice(from, from + AT_ONCE).map(async (path) => {
        // A link's target is as large as it is when it is read.
        const stats = await lstat(path).catch(() => undefined);
        if (stats?.isFile() === true) files.push({ path, size: stats.size, mtimeMs: stats.mtimeMs });
      });
      await Promise.all(found);
    }
    files.sort((a, b) => a.mtimeMs - b.mtimeMs || (a.path < b.path ? -1 : 1));
    for (const { path, size } of files) this.takes(path, size);
  }
}
