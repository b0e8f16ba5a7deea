// node:fs/promises of the simulated machine. A call takes effect at a random moment of its time, and its caller sees
// the result in a later callback: a kill between the two leaves the effect without its report.

import type { Dirent } from "node:fs";
import { asError } from "../../../src/shared/base/errors/thrown.js";
import { SystemError } from "../disk/errors.js";
import { disk } from "../disk/machine-disk.js";
import { kernel } from "../kernel/kernel.js";
import { calls, textOf, type Encoding, type PathLike } from "./file-calls.js";

export { constants } from "node:fs";

function later<T>(call: string, path: string, act: () => T): Promise<T> {
  const owner = kernel.current;
  return new Promise((resolve, reject) => {
    kernel.after(kernel.world, disk.delayOf(path), () => {
      if (!owner.isAlive) return;
      try {
        disk.check(call, path);
        const result = kernel.as(owner, act);
        kernel.deliver(owner, () => resolve(result));
      } catch (error) {
        kernel.deliver(owner, () => reject(asError(error)));
      }
    });
  });
}

/** The function of node:fs/promises for a call that takes a path first. */
function promised<Rest extends unknown[], T>(name: string, call: (path: PathLike, ...rest: Rest) => T) {
  return (path: PathLike, ...rest: Rest): Promise<T> => later(name, textOf(path), () => call(path, ...rest));
}

export const mkdir = promised("mkdir", calls.mkdir);
export const mkdtemp = promised("mkdir", calls.mkdtemp);
export const readdir = promised("readdir", calls.readdir);
export const stat = promised("stat", calls.stat);
export const lstat = promised("lstat", calls.lstat);
export const statfs = promised("statfs", calls.statfs);
export const access = promised("access", calls.access);
export const readlink = promised("readlink", calls.readlink);
export const realpath = promised("realpath", calls.realpath);
export const unlink = promised("unlink", calls.unlink);
export const rmdir = promised("rmdir", calls.rmdir);
export const rm = promised("rm", calls.rm);
export const rename = promised("rename", calls.rename);
export const link = promised("link", calls.link);
export const chmod = promised("chmod", calls.chmod);
export const chown = promised("chown", calls.chown);

export function symlink(target: PathLike, path: PathLike): Promise<void> {
  return later("symlink", textOf(path), () => calls.symlink(target, path));
}

export function readFile(path: PathLike | FileHandle, options?: Encoding): Promise<Buffer | string> {
  if (path instanceof FileHandle) return path.readFile(options);
  return later("readFile", textOf(path), () => calls.readFile(path, options));
}

export async function writeFile(
  path: PathLike | FileHandle,
  data: string | Uint8Array,
  options: { mode?: number; flag?: string } = {},
): Promise<void> {
  if (path instanceof FileHandle) return path.writeFile(data);
  const file = await open(path, options.flag ?? "w", options.mode);
  try {
    await file.writeFile(data);
  } finally {
    await file.close();
  }
}

export async function open(path: PathLike, flags?: string | number, mode?: number): Promise<FileHandle> {
  const isNew = flags !== undefined && flags !== "r" && typeof flags === "string";
  const fd = await later(isNew ? "open-create" : "open", textOf(path), () => calls.open(path, flags, mode));
  return new FileHandle(fd, textOf(path));
}

interface ReadOptions {
  buffer?: Uint8Array;
  offset?: number;
  length?: number;
  position?: number | bigint | null;
}

export class FileHandle {
  constructor(
    public fd: number,
    private readonly path: string,
  ) {}

  read(
    given?: Uint8Array | ReadOptions,
    offset?: number | ReadOptions | null,
    length?: number,
    position?: number | bigint | null,
  ): Promise<{ bytesRead: number; buffer: Uint8Array }> {
    const apart = given instanceof Uint8Array ? { buffer: given } : (given ?? {});
    const named = typeof offset === "object" && offset !== null ? offset : { offset: offset ?? 0, length, position };
    const options: ReadOptions = { ...apart, ...(given instanceof Uint8Array ? named : {}) } as ReadOptions;
    const buffer = options.buffer ?? Buffer.alloc(16_384);
    const at = options.offset ?? 0;
    const most = options.length ?? buffer.length - at;
    const from = options.position === undefined || options.position === null ? null : Number(options.position);
    return this.later("read", () => ({
      bytesRead: disk.tree.read(this.fd, buffer, at, most, from === -1 ? null : from),
      buffer,
    }));
  }

  write(
    data: Uint8Array | string,
    offset?: number | null,
    length?: number | null,
    position?: number | null,
  ): Promise<{ bytesWritten: number }> {
    const isText = typeof data === "string";
    const bytes = isText ? Buffer.from(data) : Buffer.from(data).subarray(offset ?? 0);
    const part = isText || length === undefined || length === null ? bytes : bytes.subarray(0, length);
    const at = (isText ? offset : position) ?? null;
    return this.later("write", () => ({ bytesWritten: disk.tree.write(this.fd, part, at) }));
  }

  readFile(options?: Encoding): Promise<Buffer | string> {
    return this.later("readFile", () => calls.readFile(this.fd, options));
  }
  /** As in Node, no bytes are no call. */
  writeFile(data: string | Uint8Array): Promise<void> {
    if (data.length === 0) return Promise.resolve();
    return this.later("write", () => calls.writeFile(this.fd, data));
  }
  appendFile(data: string | Uint8Array): Promise<void> {
    return this.writeFile(data);
  }
  stat(options?: { bigint?: boolean }): Promise<object> {
    return this.later("stat", () => calls.fstat(this.fd, options));
  }
  sync(): Promise<void> {
    return this.later("fsync", () => disk.tree.descriptor(this.fd, "fsync").inode.sync());
  }
  datasync(): Promise<void> {
    return this.sync();
  }
  truncate(length = 0): Promise<void> {
    return this.later("truncate", () => {
      const { inode } = disk.tree.descriptor(this.fd, "ftruncate");
      const data = Buffer.alloc(length);
      inode.data.copy(data);
      inode.setData(data);
    });
  }
  chmod(mode: number): Promise<void> {
    return this.later("chmod", () => {
      disk.tree.descriptor(this.fd, "fchmod").inode.mode = mode & 0o7777;
    });
  }
  chown(uid: number, gid: number): Promise<void> {
    return this.later("chown", () => {
      Object.assign(disk.tree.descriptor(this.fd, "fchown").inode, { uid, gid });
    });
  }
  async close(): Promise<void> {
    const { fd } = this;
    if (fd < 0) return;
    this.fd = -1;
    await later("close", "", () => disk.tree.close(fd));
  }
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  private later<T>(call: string, act: () => T): Promise<T> {
    if (this.fd < 0) return Promise.reject(new SystemError("EBADF", call, this.path));
    return later(call, this.path, act);
  }
}

/** The entries of a directory, one by one. */
class Directory {
  constructor(
    readonly path: string,
    private readonly entries: Dirent[],
  ) {}

  read(): Promise<Dirent | null> {
    return later("readdir", this.path, () => this.entries.shift() ?? null);
  }
  close(): Promise<void> {
    return Promise.resolve();
  }
  async *[Symbol.asyncIterator](): AsyncGenerator<Dirent> {
    for (;;) {
      const entry = await this.read();
      if (entry === null) return;
      yield entry;
    }
  }
}

export async function opendir(path: PathLike): Promise<Directory> {
  return new Directory(textOf(path), (await readdir(path, { withFileTypes: true })) as Dirent[]);
}
