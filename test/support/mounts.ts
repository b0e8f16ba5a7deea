// The mount table as tests look at it.

import { readFileSync } from "node:fs";
import { mountsWithin, parseMountinfo } from "../../src/shared/io/fs/mountinfo.js";

/** Mount points at or below the directory, deepest first. */
export function mountsBelow(directory: string): string[] {
  return mountsWithin(parseMountinfo(readFileSync("/proc/self/mountinfo", "utf8")), directory).map(
    ({ mountPoint }) => mountPoint,
  );
}
