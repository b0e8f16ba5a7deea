// node:fs of the simulated machine: the calls that the agent makes synchronously, and watches.

import { EventEmitter } from "node:events";
import { disk } from "../disk/machine-disk.js";
import type { Change, FileChange } from "../disk/tree.js";
import { kernel } from "../kernel/kernel.js";
import { calls, textOf, type PathLike } from "./file-calls.js";

export { constants } from "node:fs";

/** The synchronous form; faults meet it as well. */
function now<Rest extends unknown[], T>(name: string, call: (path: PathLike, ...rest: Rest) => T) {
  return (path: PathLike, ...rest: Rest): T => {
    disk.beforeSync?.();
    disk.check(name, textOf(path));
    return call(path, ...rest);
  };
}

export const readFileSync = now("readFile", calls.readFile as (path: PathLike, options?: "utf8") => string);
export const writeFileSync = now("writeFile", calls.writeFile);
export const readdirSync = now("readdir", calls.readdir);
export const readlinkSync = now("readlink", calls.readlink);
export const statSync = now("stat", calls.stat);
export const lstatSync = now("lstat", calls.lstat);
export const statfsSync = now("statfs", calls.statfs);
export const openSync = now("open", calls.open);

export function existsSync(path: PathLike): boolean {
  return disk.tree.exists(textOf(path));
}
export function fstatSync(fd: number, options?: { bigint?: boolean }): object {
  disk.beforeSync?.();
  return calls.fstat(fd, options);
}
export function readSync(
  fd: number,
  buffer: Uint8Array,
  offset = 0,
  length = buffer.length - offset,
  position: number | null = null,
): number {
  disk.beforeSync?.();
  return disk.tree.read(fd, buffer, offset, length, position);
}
export function writeSync(fd: number, data: string | Uint8Array, offset = 0): number {
  disk.beforeSync?.();
  const bytes = typeof data === "string" ? Buffer.from(data) : Buffer.from(data).subarray(offset);
  return disk.tree.write(fd, bytes, null);
}
export function closeSync(fd: number): void {
  disk.beforeSync?.();
  disk.tree.close(fd);
}

export class FSWatcher extends EventEmitter {
  private readonly change: Change;
  private readonly fileChange: FileChange;

  constructor(path: string, listener: ((event: string, name: string) => void) | undefined) {
    super();
    const owner = kernel.current;
    const watched = disk.tree.lookUp(path, "watch");
    if (listener !== undefined) this.on("change", listener);
    this.change = (directory, name, kind) => {
      if (!owner.isAlive) disk.tree.watchers.delete(this.change);
      // Node does not watch the ends of reads and writes.
      if (directory !== watched || kind === "closed") return;
      const event = kind === "created" || kind === "removed" ? "rename" : "change";
      kernel.post(owner, () => this.emit("change", event, name));
    };
    this.fileChange = (inode, kind) => {
      if (!owner.isAlive) disk.tree.fileWatchers.delete(this.fileChange);
      if (inode === watched && kind !== "closed")
        kernel.post(owner, () => this.emit("change", kind === "moved" ? "rename" : "change", ""));
    };
    if (watched.kind === "file") disk.tree.fileWatchers.add(this.fileChange);
    else disk.tree.watchers.add(this.change);
  }
  close(): void {
    disk.tree.watchers.delete(this.change);
    disk.tree.fileWatchers.delete(this.fileChange);
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
}

export function watch(path: PathLike, ...rest: unknown[]): FSWatcher {
  const listener = rest.find((one) => typeof one === "function") as ((event: string, name: string) => void) | undefined;
  return new FSWatcher(textOf(path), listener);
}

export const renameSync = now("rename", calls.rename);
export const unlinkSync = now("unlink", calls.unlink);
export const chmodSync = now("chmod", calls.chmod);
export const chownSync = now("chown", calls.chown);
export const lchownSync = now("chown", calls.chown);

export function fsyncSync(fd: number): void {
  disk.beforeSync?.();
  disk.tree.descriptor(fd, "fsync").inode.sync();
}
export function fchmodSync(fd: number, mode: number): void {
  disk.beforeSync?.();
  disk.tree.descriptor(fd, "fchmod").inode.mode = mode & 0o7777;
}
export function fchownSync(fd: number, uid: number, gid: number): void {
  Object.assign(disk.tree.descriptor(fd, "fchown").inode, { uid, gid });
}
/** A number is seconds. */
export function futimesSync(fd: number, _accessed: Date | number, modified: Date | number): void {
  disk.beforeSync?.();
  const ms = typeof modified === "number" ? modified * 1000 : modified.getTime();
  disk.tree.descriptor(fd, "futimes").inode.modifiedAt = ms;
}
