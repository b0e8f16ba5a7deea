// How full a file system is, and how much a directory takes of it. A directory is walked slowly, by disk blocks and inodes as du
// counts: hard links once, other file systems not at all.
import { lstat, opendir, statfs } from "node:fs/promises";
import type { Clock } from "../clock/clock.js";
import type { FsFigures } from "./fs-figures.js";

/** A walk may take this part of a core. */
const SHARE = 0.05;
/** Work between two rests. */
const STINT_MS = 5;
const BLOCK = 512;

export interface Taken {
  bytes: number;
  inodes: number;
}

/** Rejects when there is nothing at the path. */
export async function fsFigures(path: string, at: number): Promise<FsFigures> {
  const { bsize, blocks, bfree, bavail, files, ffree } = await statfs(path);
  return {
    at,
    capacityBytes: blocks * bsize,
    availableBytes: bavail * bsize,
    usedBytes: (blocks - bfree) * bsize,
    inodes: files,
    inodesFree: ffree,
    inodesUsed: files - ffree,
  };
}

/**
 * What the tree at `path` takes; what goes away meanwhile is not counted, and a tree that is not there takes nothing.
 * Rejects when `signal` aborts.
 * @param itself does the directory at `path` count, too?
 */
export async function takenBy(
  path: string,
  clock: Pick<Clock, "monotonic" | "sleep">,
  signal: AbortSignal,
  { itself = true } = {},
): Promise<Taken> {
  const taken: Taken = { bytes: 0, inodes: 0 };
  const linked = new Set<number>();
  let device: number | undefined;
  let began = clock.monotonic();
  const rest = async (): Promise<void> => {
    signal.throwIfAborted();
    const worked = clock.monotonic() - began;
    if (worked < STINT_MS) return;
    await clock.sleep((worked * (1 - SHARE)) / SHARE, signal);
    began = clock.monotonic();
  };
  /** Is it a directory to go on with? */
  const count = async (entry: string): Promise<boolean> => {
    const found = await lstat(entry).catch(() => undefined);
    if (found === undefined) return false;
    device ??= found.dev;
    if (found.dev !== device) return false;
    if (found.nlink > 1 && !found.isDirectory()) {
      if (linked.has(found.ino)) return false;
      linked.add(found.ino);
    }
    taken.bytes += found.blocks * BLOCK;
    taken.inodes++;
    return found.isDirectory();
  };
  const directories = (await count(path)) ? [path] : [];
  if (!itself) Object.assign(taken, { bytes: 0, inodes: 0 });
  for (let next = directories.pop(); next !== undefined; next = directories.pop()) {
    const opened = await opendir(next).catch(() => undefined);
    if (opened === undefined) continue;
    try {
      for await (const { name } of opened) {
        const entry = `${next}/${name}`;
        if (await count(entry)) directories.push(entry);
        await rest();
      }
    } catch (error) {
      if (signal.aborted) throw error;
      // The directory went away while it was read.
    }
  }
  return taken;
}
