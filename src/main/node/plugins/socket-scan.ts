// The sockets below the plugins' directory, as they are now.
// Invariant: one scan looks at a bounded number of entries. Sockets that were found before come first, so that a folder
// full of other files deregisters no plugin.

import { lstat, opendir } from "node:fs/promises";
import { errorCode } from "../../../shared/base/errors/error-code.js";

export interface SocketScan {
  /** Path to identity: another socket of the same path has another one. */
  sockets: Map<string, string>;
  /** The directory itself and all below it. */
  directories: string[];
  /** There is more than a scan looks at. */
  isCut: boolean;
}

/** Plugins keep their sockets a level or two down; a loop of mounts must not be walked for ever. */
const DEEPEST = 8;
/** Far above what the plugins of a node need. */
export const MOST_SOCKETS = 256;
/** Each is watched, and the kernel has few watches. */
const MOST_DIRECTORIES = 256;
const MOST_ENTRIES = 4096;

/**
 * Names that begin with a dot are skipped; links are not followed. What vanishes meanwhile is left out. `known`: paths
 * of earlier sockets.
 */
export async function scanSockets(directory: string, known: Iterable<string> = []): Promise<SocketScan> {
  const walk = new Walk();
  for (const path of known) await walk.addIfSocket(path);
  await walk.enter(directory, 0);
  return walk.scan;
}

class Walk {
  readonly scan: SocketScan = { sockets: new Map(), directories: [], isCut: false };
  private entries = 0;

  async addIfSocket(path: string): Promise<void> {
    const { sockets } = this.scan;
    if (sockets.has(path)) return;
    if (sockets.size >= MOST_SOCKETS) {
      this.scan.isCut = true;
      return;
    }
    const stats = await lstat(path, { bigint: true }).catch(unlessGone);
    // Not ctime: a change of mode makes no other socket.
    if (stats?.isSocket() === true) sockets.set(path, `${stats.dev}:${stats.ino}:${stats.mtimeNs}`);
  }

  async enter(directory: string, depth: number): Promise<void> {
    const { scan } = this;
    if (scan.directories.length >= MOST_DIRECTORIES) {
      scan.isCut = true;
      return;
    }
    const folder = await opendir(directory).catch(unlessGone);
    if (folder === undefined) return;
    scan.directories.push(directory);
    for await (const entry of folder) {
      if (++this.entries > MOST_ENTRIES) {
        scan.isCut = true;
        return;
      }
      const path = `${directory}/${entry.name}`;
      if (entry.name.startsWith(".")) continue;
      if (entry.isDirectory() && depth < DEEPEST) await this.enter(path, depth + 1);
      else if (entry.isSocket()) await this.addIfSocket(path);
    }
  }
}

function unlessGone(error: unknown): undefined {
  if (["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "")) return undefined;
  throw error;
}
