// A block device of a file, for tests that format and mount one.

import { execFileSync } from "node:child_process";
import { truncateSync, writeFileSync } from "node:fs";

export interface LoopDevice {
  path: string;
  detach(): void;
}

/** undefined where the kernel, or the lack of permission, allows no loop device. */
export function loopDevice(file: string, bytes: number): LoopDevice | undefined {
  writeFileSync(file, "");
  truncateSync(file, bytes);
  try {
    const path = execFileSync("losetup", ["--find", "--show", file], { encoding: "utf8", stdio: "pipe" }).trim();
    return { path, detach: () => void execFileSync("losetup", ["--detach", path]) };
  } catch {
    return undefined;
  }
}
