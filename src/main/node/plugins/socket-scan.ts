// The sockets below the plugins' directory, as they are now.
import { lstat, readdir } from "node:fs/promises";
import { errorCode } from "../../../shared/errors/error-code.js";

export interface SocketScan {
  /** Path to identity: another socket of the same path has another one. */
  sockets: Map<string, string>;
  /** The directory itself and all below it. */
  directories: string[];
}

/** Plugins keep their sockets a level or two down; a loop of mounts must not be walked for ever. */
const DEEPEST = 8;

/** Names that begin with a dot are skipped; links are not followed. What vanishes meanwhile is left out. */
export async function scanSockets(directory: string): Promise<SocketScan> {
  const scan: SocketScan = { sockets: new Map(), directories: [] };
  await walk(directory, 0, scan);
  return scan;
}

async function walk(directory: string, depth: number, scan: SocketScan): Promise<void> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(unlessGone);
  if (entries === undefined) return;
  scan.directories.push(directory);
  for (const entry of entries) {
    const path = `${directory}/${entry.name}`;
    if (entry.name.startsWith(".")) continue;
    if (entry.isDirectory() && depth < DEEPEST) await walk(path, depth + 1, scan);
    if (!entry.isSocket()) continue;
    const stats = await lstat(path, { bigint: true }).catch(unlessGone);
    // Not ctime: a change of mode makes no other socket.
    if (stats?.isSocket() === true) scan.sockets.set(path, `${stats.dev}:${stats.ino}:${stats.mtimeNs}`);
  }
}

function unlessGone(error: unknown): undefined {
  if (["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "")) return undefined;
  throw error;
}
