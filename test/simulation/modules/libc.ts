// The agent's C calls (src/shared/io/os/libc.ts) on the simulated machine: locks, mounts and changes of names. Others
// are refused.

import { constants } from "node:os";
import { OsCallError } from "../../../src/shared/io/os/errors.js";
import { SystemError } from "../disk/errors.js";
import { disk } from "../disk/machine-disk.js";
import { kernel } from "../kernel/kernel.js";

const BIND = 1 << 12;
const REMOUNT = 1 << 5;
const EXCHANGE = 1 << 1;
const PROPAGATION = (1 << 18) | (1 << 19) | (1 << 20);

export function libc(call: string, about: string): number {
  if (call === "flock" || call === "malloc_trim") return 0;
  throw new OsCallError(call, constants.errno.ENOSYS, about);
}

export function libcOnPool(call: string, about: string, ...args: unknown[]): Promise<number> {
  const owner = kernel.current;
  return new Promise((resolve, reject) => {
    kernel.after(kernel.world, disk.delayOf(about), () => {
      try {
        perform(call, about, args);
        kernel.post(owner, () => resolve(0));
      } catch (error) {
        const code = error instanceof SystemError ? (error.code as "EINVAL") : "EIO";
        kernel.post(owner, () => reject(new OsCallError(call, constants.errno[code], about)));
      }
    });
  });
}

function perform(call: string, about: string, args: unknown[]): void {
  if (call === "umount2") disk.tree.unmount(String(args[0]));
  else if (call === "mount") {
    const [source, target, type, flags] = args as [string, string, string | null, number];
    if ((flags & (REMOUNT | PROPAGATION)) !== 0) return;
    disk.tree.mount(source, target, (flags & BIND) !== 0 ? "" : (type ?? ""));
  } else if (call === "renameat2") changeNames(args as [number, number, string, number, string, number], about);
  else throw new OsCallError(call, constants.errno.ENOSYS, about);
}

function changeNames([, , from, , to, flags]: [number, number, string, number, string, number], about: string): void {
  if ((flags & EXCHANGE) !== 0) disk.tree.exchange(from, to);
  else if (disk.tree.exists(to)) throw new OsCallError("renameat2", constants.errno.EEXIST, about);
  else disk.tree.rename(from, to);
}
