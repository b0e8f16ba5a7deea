// The process's umask, which the kubelet itself never changes: it says which modes open(2) and mkdir(2) give as asked, so
// that no chmod has to follow. Read from /proc, since process.umask() can only tell by changing it for a moment.
import { readFile } from "node:fs/promises";

let known: Promise<number | undefined> | undefined;

/** Whether what is made with this mode has it. False too where the umask cannot be learned. */
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
