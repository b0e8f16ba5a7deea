// Overlay mounts, pod network namespaces and shm mounts outlive the processes that made them.
// Invariant: only mount points at or below the folder asked for are ever unmounted, deepest first.

import { readFile } from "node:fs/promises";
import { isCommandFailed, run } from "./exec.js";

/** Mount points at or below `directory`, deepest first, one entry per mount. */
export async function mountsBelow(directory: string): Promise<string[]> {
  return parseMountInfo(await readFile("/proc/self/mountinfo", "utf8"))
    .filter((point) => point === directory || point.startsWith(`${directory}/`))
    .reverse();
}

/** Mount points in the order they were mounted; octal escapes (blank, tab, newline, backslash) are undone. */
export function parseMountInfo(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.split(" ")[4])
    .filter((point) => point !== undefined)
    .map((point) => point.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8))));
}

/** Unmounts everything at or below `directory`. Busy ones are detached: they go when the last user does. */
export async function unmountBelow(directory: string): Promise<void> {
  for (const point of await mountsBelow(directory)) {
    try {
      await run("umount", ["--", point]);
    } catch (error) {
      if (!isCommandFailed(error)) throw error;
      if (!(await mountsBelow(directory)).includes(point)) continue;
      await run("umount", ["--lazy", "--", point]);
    }
  }
}
