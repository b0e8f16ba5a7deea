// The mount table as tests look at it.

import { readFileSync } from "node:fs";
import { mountsWithin, parseMountinfo } from "../../src/shared/io/fs/mountinfo.js";

/** Options of the mount at exactly this directory; undefined: none is mounted there. */
export function optionsOfMount(directory: string): string[] | undefined {
  const mounts = parseMountinfo(readFileSync("/proc/self/mountinfo", "utf8"));
  return mounts.findLast(({ mountPoint }) => mountPoint === directory)?.options;
}

/** Mount points at or below the directory, deepest first. */
export function mountsBelow(directory: string): string[] {
  return mountsWithin(parseMountinfo(readFileSync("/proc/self/mountinfo", "utf8")), directory).map(
    ({ mountPoint }) => mountPoint,
  );
}
