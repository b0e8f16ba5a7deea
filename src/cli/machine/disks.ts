// Free space and inodes of file systems. A program asks: one that does not respond holds up only the program.

import { messageOf } from "../../shared/base/errors/thrown.js";
import { runTool, type ToolOptions } from "./tool.js";

export interface Disk {
  path: string;
  freePercent: number;
  freeInodesPercent: number;
  /** It does not respond: nothing is known about it. */
  hangs?: boolean;
}

const DEADLINE_MS = 5000;

/** Paths that are not there are left out. */
export async function readDisks(paths: readonly string[], options: ToolOptions): Promise<Disk[]> {
  const found = await Promise.all(paths.map((path) => readDisk(path, { ...options, deadlineMs: DEADLINE_MS })));
  return found.filter((disk) => disk !== undefined);
}

async function readDisk(path: string, options: ToolOptions): Promise<Disk | undefined> {
  try {
    // Blocks for users other than root, all blocks, free inodes, all inodes.
    const printed = await runTool("stat", ["--file-system", "--format=%a %b %d %c", path], options);
    const [free = 0, blocks = 0, freeInodes = 0, inodes = 0] = printed.trim().split(" ").map(Number);
    if (blocks === 0) return undefined;
    return {
      path,
      freePercent: percent(free, blocks),
      freeInodesPercent: inodes === 0 ? 100 : percent(freeInodes, inodes),
    };
  } catch (error) {
    const hangs = messageOf(error).includes("no response");
    return hangs ? { path, freePercent: 0, freeInodesPercent: 0, hangs } : undefined;
  }
}

function percent(part: number, whole: number): number {
  return Math.floor((part * 100) / whole);
}
