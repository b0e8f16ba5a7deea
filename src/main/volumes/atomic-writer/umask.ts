// The process's umask, which the kubelet sets once, at its start. It decides for which modes no chmod has to follow
// open(2) and mkdir(2). Read from /proc, because process.umask() can only read it by changing it for a moment.

import { readFile } from "fs/promises";

let known: Promise<number | undefined> | undefined;

/** True if new files with this mode get the whole mode. False also if the umask cannot be read. */
export async function keptByUmask(mode: number): Promise<boolean> {
  known ??= readUmask();
  const umask = await known;
  // open(2) and mkdir(2) may leave out the bits above the permissions.
  return umask !== undefined && (mode & umask) === 0 && mode <= 0o777;
}

async function readUmask(): Promise<number | undefined> {
  try {
    const digits = /^Umask:\s*([0-7]+)$/m.exec(await readFile("/proc/self/status", "utf8"))?.[1];
    return digits === undefined ? undefined : parseInt(digits, 8);
  } catch {
    return undefined;
  }
}
