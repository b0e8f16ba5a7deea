// The files of the machine: paths, links, mounts, descriptors. All calls are synchronous; modules/ gives them Node's
// form and its delays.

import { kernel } from "../kernel/kernel.js";
import type { Owner } from "../kernel/owner.js";
import { CGROUPS, fillCgroup, isBusyCgroup } from "./cgroup-inodes.js";
import { SystemError } from "./errors.js";
import { Inode } from "./inode.js";
import { BLOCK, blocksOf, requireRoom, type Need, type Room } from "./room.js";

const MOST_LINKS = 20;

export interface Descriptor {
  inode: Inode;
  path: string;
  position: number;
  isAppending: boolean;
  isWriting: boolean;
  /** It closes with its process. */
  owner: Owner;
}

export interface OpenFlags {
  write: boolean;
  create: boolean;
  exclusive: boolean;
  truncate: boolean;
  append: boolean;
  noFollow: boolean;
  directory: boolean;
  /** O_PATH: the entry itself, links included. */
  isPath: boolean;
}

/** A change of a directory or file, for those that watch. */
export type Change = (directory: Inode, name: string, kind: "created" | "removed" | "written" | "closed") => void;

/** A change of an open file, for those that watch it under any name. */
export type FileChange = (inode: Inode, kind: "written" | "closed" | "moved") => void;

export interface MountEntry {
  target: string;
  source: string;
  type: string;
  at: Inode;
  root: Inode;
}

interface Found {
  parent: Inode;
  name: string;
  inode: Inode | undefined;
}

export class FileTree {
  root = new Inode("directory", 0o755, "disk");
  readonly descriptors = new Map<number, Descriptor>();
  readonly mounts: MountEntry[] = [];
  readonly watchers = new Set<Change>();
  readonly fileWatchers = new Set<FileChange>();
  /** What is left on a file system; undefined, also its result: enough. Programs of the world always find enough. */
  roomOn: ((fileSystem: string) => Room | undefined) | undefined;
  private nextDescriptor = 20;
  /** Numbers of closed descriptors: the next files get them, as on Linux. */
  private readonly freed: number[] = [];
  private tmpfs = 0;

  /** The inode of a path. @throws SystemError ENOENT, ENOTDIR, ELOOP */
  lookUp(path: string, call: string, followsLast = true): Inode {
    const plain = followsLast ? this.plain(path) : undefined;
    if (plain !== undefined) return plain;
    const { inode } = this.find(path, call, followsLast);
    if (inode === undefined) throw new SystemError("ENOENT", call, path);
    return inode;
  }

  exists(path: string): boolean {
    try {
      this.lookUp(path, "stat");
      return true;
    } catch {
      return false;
    }
  }

  /** The directory of a path and the entry there. @throws SystemError */
  find(path: string, call: string, followsLast = true): Found {
    return this.walk(this.root, path, { call, whole: path, followsLast, links: 0 });
  }

  open(path: string, flags: OpenFlags, mode: number): number {
    const found = this.find(path, "open", !flags.noFollow && !(flags.create && flags.exclusive));
    let { inode } = found;
    if (inode === undefined) {
      if (!flags.create) throw new SystemError("ENOENT", "open", path);
      this.require(found.parent, { blocks: 0, inodes: 1 }, "open", path);
      inode = new Inode("file", mode & 0o7777, found.parent.fileSystem);
      found.parent.setEntry(found.name, inode);
      this.tell(found.parent, found.name, "created");
    } else if (flags.create && flags.exclusive) throw new SystemError("EEXIST", "open", path);
    if (inode.kind === "link" && !flags.isPath) throw new SystemError("ELOOP", "open", path);
    if (inode.kind === "directory" && flags.write) throw new SystemError("EISDIR", "open", path);
    if (inode.kind !== "directory" && flags.directory) throw new SystemError("ENOTDIR", "open", path);
    if (flags.truncate && inode.kind === "file") inode.setData(Buffer.alloc(0));
    const fd = this.freed.pop() ?? this.nextDescriptor++;
    const { append: isAppending, write: isWriting } = flags;
    this.descriptors.set(fd, { inode, path, position: 0, isAppending, isWriting, owner: kernel.current });
    return fd;
  }

  descriptor(fd: number, call: string): Descriptor {
    const found = this.descriptors.get(fd);
    if (found === undefined) throw new SystemError("EBADF", call, String(fd));
    return found;
  }

  close(fd: number): void {
    const { inode, path, isWriting } = this.descriptor(fd, "close");
    this.descriptors.delete(fd);
    this.freed.push(fd);
    if (inode.kind === "file") this.tellOf(path, "closed");
    if (isWriting) this.tellFile(inode, "closed");
  }

  /** Closes the files of dead processes. Their numbers stay unused: a call of theirs may still be under way. */
  closeOrphans(): void {
    for (const [fd, { owner }] of this.descriptors) if (!owner.isAlive) this.descriptors.delete(fd);
  }

  /** `position` null: from the descriptor's own. */
  read(fd: number, into: Uint8Array, offset: number, length: number, position: number | null): number {
    const descriptor = this.descriptor(fd, "read");
    if (descriptor.inode.kind === "directory") throw new SystemError("EISDIR", "read", descriptor.path);
    const data = contentOf(descriptor.inode);
    const from = position ?? descriptor.position;
    const bytes = data.subarray(from, from + length);
    into.set(bytes, offset);
    if (position === null) descriptor.position += bytes.length;
    return bytes.length;
  }

  write(fd: number, bytes: Buffer, position: number | null): number {
    const descriptor = this.descriptor(fd, "write");
    const { inode } = descriptor;
    if (inode.written !== undefined) {
      inode.written(bytes.toString());
      return bytes.length;
    }
    const from = descriptor.isAppending ? inode.data.length : (position ?? descriptor.position);
    const size = Math.max(inode.data.length, from + bytes.length);
    const blocks = blocksOf(size) - blocksOf(inode.data.length);
    this.require(inode, { blocks, inodes: 0 }, "write", descriptor.path);
    const data = Buffer.alloc(size);
    inode.data.copy(data);
    bytes.copy(data, from);
    inode.setData(data);
    if (position === null) descriptor.position = from + bytes.length;
    this.tellOf(descriptor.path, "written");
    this.tellFile(inode, "written");
    return bytes.length;
  }

  /** A program of the world writes to a file that it has open. @returns false if the disk has no room */
  append(inode: Inode, bytes: Buffer): boolean {
    const room = this.roomOn?.(inode.fileSystem);
    const blocks = blocksOf(inode.data.length + bytes.length) - blocksOf(inode.data.length);
    if (room !== undefined && blocks > Math.floor(room.freeBytes / BLOCK)) return false;
    inode.setData(Buffer.concat([inode.data, bytes]));
    this.tellFile(inode, "written");
    return true;
  }

  makeDirectory(path: string, mode: number): void {
    const { parent, name, inode } = this.find(path, "mkdir", false);
    if (inode !== undefined) throw new SystemError("EEXIST", "mkdir", path);
    this.require(parent, { blocks: 1, inodes: 1 }, "mkdir", path);
    const made = new Inode("directory", mode, parent.fileSystem);
    if (parent.fileSystem === CGROUPS) fillCgroup(made);
    parent.setEntry(name, made);
    parent.links++;
    this.tell(parent, name, "created");
  }

  /** A node that is made whole: a link, a socket. */
  make(path: string, inode: Inode, call: string): void {
    const { parent, name, inode: old } = this.find(path, call, false);
    if (old !== undefined) throw new SystemError("EEXIST", call, path);
    // A link's target and a socket need no block; another name of a file needs no inode.
    this.require(parent, { blocks: 0, inodes: inode.links > 1 ? 0 : 1 }, call, path);
    parent.setEntry(name, inode);
    this.tell(parent, name, "created");
  }

  hardLink(from: string, to: string): void {
    const inode = this.lookUp(from, "link", false);
    inode.links++;
    this.make(to, inode, "link");
  }

  unlink(path: string): void {
    const { parent, name, inode } = this.find(path, "unlink", false);
    if (inode === undefined) throw new SystemError("ENOENT", "unlink", path);
    if (inode.kind === "directory") throw new SystemError("EISDIR", "unlink", path);
    parent.setEntry(name, undefined);
    inode.links--;
    this.tell(parent, name, "removed");
  }

  removeDirectory(path: string): void {
    const { parent, name, inode } = this.find(path, "rmdir", false);
    if (inode === undefined) throw new SystemError("ENOENT", "rmdir", path);
    if (inode.kind !== "directory") throw new SystemError("ENOTDIR", "rmdir", path);
    if (this.mounts.some(({ root }) => root === inode)) throw new SystemError("EBUSY", "rmdir", path);
    if (inode.fileSystem === CGROUPS) {
      if (isBusyCgroup(inode)) throw new SystemError("EBUSY", "rmdir", path);
    } else if (inode.entries.size > 0) throw new SystemError("ENOTEMPTY", "rmdir", path);
    parent.setEntry(name, undefined);
    parent.links--;
    this.tell(parent, name, "removed");
  }

  rename(from: string, to: string): void {
    const source = this.find(from, "rename", false);
    const target = this.find(to, "rename", false);
    const { inode } = source;
    if (inode === undefined) throw new SystemError("ENOENT", "rename", from);
    const old = target.inode;
    if (old === inode) return;
    if (source.parent.fileSystem !== target.parent.fileSystem) throw new SystemError("EXDEV", "rename", from);
    if (old?.kind === "directory" && inode.kind !== "directory") throw new SystemError("EISDIR", "rename", from);
    if (old?.kind === "directory" && old.entries.size > 0) throw new SystemError("ENOTEMPTY", "rename", from);
    if (old !== undefined && old.kind !== "directory" && inode.kind === "directory") {
      throw new SystemError("ENOTDIR", "rename", from);
    }
    source.parent.setEntry(source.name, undefined);
    target.parent.setEntry(target.name, inode);
    this.tell(source.parent, source.name, "removed");
    this.tell(target.parent, target.name, "created");
    this.tellFile(inode, "moved");
  }

  /** Each of two files gets the other's name: renameat2(2). */
  exchange(path: string, other: string): void {
    const [one, two] = [this.find(path, "renameat2", false), this.find(other, "renameat2", false)];
    if (one.inode === undefined) throw new SystemError("ENOENT", "renameat2", path);
    if (two.inode === undefined) throw new SystemError("ENOENT", "renameat2", other);
    if (one.parent.fileSystem !== two.parent.fileSystem) throw new SystemError("EXDEV", "renameat2", path);
    one.parent.setEntry(one.name, two.inode);
    two.parent.setEntry(two.name, one.inode);
    for (const { parent, name } of [one, two]) this.tell(parent, name, "created");
  }

  /** The path without links. */
  realPath(path: string): string {
    const inode = this.lookUp(path, "realpath");
    return this.pathOf(inode) ?? path;
  }

  mount(source: string, target: string, type: string): void {
    const at = this.lookUp(target, "mount");
    const bound = type === "";
    const root = bound ? this.lookUp(source, "mount") : new Inode("directory", 0o1777, `${type}-${++this.tmpfs}`);
    // The inode that shows there now is covered.
    at.mounted = root;
    this.mounts.push({ target: this.pathBelow(target), source, type: bound ? "ext4" : type, at, root });
  }

  unmount(target: string): void {
    const path = this.pathBelow(target);
    const index = this.mounts.findLastIndex((mount) => mount.target === path);
    const mount = this.mounts[index];
    if (mount === undefined) throw new SystemError("EINVAL", "umount2", target);
    this.mounts.splice(index, 1);
    mount.at.mounted = undefined;
  }

  /** /proc/self/mountinfo */
  mountTable(): string {
    const lines = [
      "20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw",
      "21 20 0:21 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw",
    ];
    this.mounts.forEach(({ target, source, type }, index) => {
      lines.push(`${30 + index} 20 0:${30 + index} / ${target} rw,relatime - ${type} ${source} rw`);
    });
    return `${lines.join("\n")}\n`;
  }

  /** A file was written whole, from outside the calls here. */
  announce(directory: Inode, name: string): void {
    this.tell(directory, name, "created");
    this.tell(directory, name, "closed");
  }

  /** The file has changed, or a program of the world has closed it. */
  tellFile(inode: Inode, kind: Parameters<FileChange>[1]): void {
    for (const watcher of this.fileWatchers) kernel.as(kernel.world, () => watcher(inode, kind));
  }

  /** On the file system of that inode. @throws SystemError ENOSPC */
  private require({ fileSystem }: Inode, need: Need, call: string, path: string): void {
    if (kernel.current === kernel.world) return;
    const room = this.roomOn?.(fileSystem);
    if (room !== undefined) requireRoom(room, need, call, path);
  }

  /** The inode of a path without links and "..", if it is there: most are. */
  private plain(path: string): Inode | undefined {
    let at = this.root;
    for (const name of partsOf(path)) {
      const entry = at.entries.get(name);
      const next = entry?.mounted ?? entry;
      if (next === undefined || next.kind === "link") return undefined;
      at = next;
    }
    return at;
  }

  private pathBelow(path: string): string {
    return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
  }

  /** A path of the inode, from the root. */
  private pathOf(wanted: Inode): string | undefined {
    const search = (at: Inode, path: string): string | undefined => {
      if (at === wanted) return path === "" ? "/" : path;
      for (const [name, child] of at.entries) {
        const shown = child.mounted ?? child;
        if (shown === wanted) return `${path}/${name}`;
        if (shown.kind !== "directory") continue;
        const found = search(shown, `${path}/${name}`);
        if (found !== undefined) return found;
      }
      return undefined;
    };
    return search(this.root, "");
  }

  private walk(
    from: Inode,
    path: string,
    about: { call: string; whole: string; followsLast: boolean; links: number },
  ): Found {
    const parts = partsOf(path);
    const above: Inode[] = [];
    let at = from;
    let start = 0;
    if (path.startsWith("/proc/self/fd/")) {
      at = this.descriptor(Number(parts[3]), about.call).inode;
      start = 4;
      if (parts.length === 4) return { parent: this.root, name: parts[3] ?? "", inode: at };
    }
    if (parts.length === start) return { parent: at, name: "", inode: at };
    for (let index = start; index < parts.length; index++) {
      const name = parts[index] ?? "";
      const isLast = index === parts.length - 1;
      if (at.kind !== "directory") throw new SystemError("ENOTDIR", about.call, about.whole);
      if (name === "..") {
        at = above.pop() ?? at;
        if (isLast) return { parent: at, name: "", inode: at };
        continue;
      }
      let next = at.entries.get(name);
      next = next?.mounted ?? next;
      if (isLast && (next?.kind !== "link" || !about.followsLast)) return { parent: at, name, inode: next };
      if (next === undefined) throw new SystemError("ENOENT", about.call, about.whole);
      if (next.kind === "link") {
        if (about.links >= MOST_LINKS) throw new SystemError("ELOOP", about.call, about.whole);
        const rest = [next.target, ...parts.slice(index + 1)].join("/");
        const base = next.target.startsWith("/") ? this.root : at;
        return this.walk(base, rest, { ...about, links: about.links + 1 });
      }
      above.push(at);
      at = next;
    }
    return { parent: at, name: "", inode: at };
  }

  private tellOf(path: string, kind: Parameters<Change>[2]): void {
    if (this.watchers.size === 0 || path.startsWith("/proc/self/fd/")) return;
    try {
      const { parent, name } = this.find(path, "open");
      this.tell(parent, name, kind);
    } catch {
      // The file has no name any more, so it has no watcher.
    }
  }

  private tell(directory: Inode, name: string, kind: Parameters<Change>[2]): void {
    for (const watcher of this.watchers) kernel.as(kernel.world, () => watcher(directory, name, kind));
  }
}

const splitPaths = new Map<string, readonly string[]>();
const MOST_SPLIT_PATHS = 5000;

/** The names of a path. The agent asks for the same paths again and again. */
function partsOf(path: string): readonly string[] {
  let parts = splitPaths.get(path);
  if (parts === undefined) {
    parts = path.split("/").filter((part) => part !== "" && part !== ".");
    if (splitPaths.size >= MOST_SPLIT_PATHS) splitPaths.clear();
    splitPaths.set(path, parts);
  }
  return parts;
}

/** The bytes of a file. */
export function contentOf(inode: Inode): Buffer {
  return inode.text === undefined ? inode.data : Buffer.from(inode.text());
}
