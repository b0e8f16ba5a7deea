// renameat2(2): names of files change in one step, and none is lost by it. Node has only rename(2), which removes what
// it meets.

import { libcOnPool } from "./libc.js";

const SYS_RENAMEAT2 = process.arch === "arm64" ? 276 : 316;
/** Paths are absolute, so that it names no directory. */
const AT_FDCWD = -100;
const NOREPLACE = 1;
const EXCHANGE = 2;

/** Gives each file the other's name. @throws OsCallError: ENOENT when one is missing, EINVAL on some file systems */
export async function exchangeFiles(path: string, other: string): Promise<void> {
  await libcOnPool("renameat2", `${path} and ${other}`, SYS_RENAMEAT2, AT_FDCWD, path, AT_FDCWD, other, EXCHANGE);
}

/** @throws OsCallError: EEXIST when there is something at `to`, EINVAL on some file systems */
export async function moveIfAbsent(from: string, to: string): Promise<void> {
  await libcOnPool("renameat2", `${from} to ${to}`, SYS_RENAMEAT2, AT_FDCWD, from, AT_FDCWD, to, NOREPLACE);
}
