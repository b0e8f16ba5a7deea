// The one disk of the simulated machine: the tree, its faults, and what a crash of the machine leaves of it.

import { Random } from "../kernel/random.js";
import { CGROUPS, clearCgroups, fillCgroup } from "./cgroup-inodes.js";
import { SystemError } from "./errors.js";
import { Inode } from "./inode.js";
import type { Room } from "./room.js";
import { FileTree } from "./tree.js";

/** Milliseconds of a call. */
const FASTEST_MS = 0.01;
const SLOWEST_MS = 0.3;

interface DiskFault {
  kind: "ENOSPC" | "EIO" | "slow";
  /** Part of the calls that it meets. */
  share: number;
  /** Paths below it. */
  below: string;
}

const LOGS = "/var/log/";
const OPEN = /^\/proc\/self\/fd\/(\d+)/;
const WRITES = new Set(["write", "writeFile", "mkdir", "open-create", "symlink", "fsync"]);

class MachineDisk {
  readonly tree = new FileTree();
  fault: DiskFault | undefined;
  /** Calls that a fault met. */
  faults = 0;
  /** What statfs(2) of a path shows of its file system; undefined, also its result: much room, always the same. */
  roomAt: ((path: string, fileSystem: string) => Room | undefined) | undefined;
  /** Called before each synchronous call; throws where its process ends in the middle of work. */
  beforeSync: (() => void) | undefined;
  private random = new Random(0);

  seed(random: Random): void {
    this.random = random;
  }

  /** Time of one call, ms. */
  delayOf(path: string): number {
    const { fault } = this;
    if (fault?.kind === "slow" && path.startsWith(fault.below) && this.random.chance(fault.share)) {
      this.faults++;
      return this.random.between(100, 5000);
    }
    return this.random.between(FASTEST_MS, SLOWEST_MS);
  }

  /** The kubelet reaches files of logs by their open folders. */
  private isBelow(below: string, path: string): boolean {
    if (path.startsWith(below)) return true;
    const fd = below.startsWith(LOGS) ? OPEN.exec(path)?.[1] : undefined;
    return fd !== undefined && this.tree.descriptors.get(Number(fd))?.path.startsWith(below) === true;
  }

  /** @throws SystemError if a fault meets the call */
  check(call: string, path: string): void {
    const { fault } = this;
    if (fault === undefined || fault.kind === "slow" || !this.isBelow(fault.below, path)) return;
    if (fault.kind === "ENOSPC" && !WRITES.has(call)) return;
    if (!this.random.chance(fault.share)) return;
    this.faults++;
    throw new SystemError(fault.kind, call, path);
  }

  /**
   * The machine lost its power. Of each directory the changes since its last sync are there up to one of them; of each
   * file its content, the synced content, or the beginning of the content.
   * `losesAll`: names that were not synced are gone.
   */
  crash(losesAll: boolean): void {
    const { tree, random } = this;
    tree.mounts.length = 0;
    tree.descriptors.clear();
    tree.watchers.clear();
    tree.fileWatchers.clear();
    const seen = new Set<Inode>();
    const restore = (inode: Inode): void => {
      if (seen.has(inode)) return;
      seen.add(inode);
      inode.mounted = undefined;
      if (inode.text !== undefined) return;
      if (inode.kind === "file") this.tear(inode);
      if (inode.kind !== "directory") return;
      if (inode.fileSystem === CGROUPS) {
        clearCgroups(inode);
        return;
      }
      const { durable, unsynced } = inode;
      // Most of it was written back in time.
      const kept = losesAll ? 0 : random.chance(0.5) ? unsynced.length : random.below(unsynced.length + 1);
      const entries = new Map(durable.entries);
      for (const { name, inode: changed } of unsynced.slice(0, kept)) {
        if (changed === undefined) entries.delete(name);
        else entries.set(name, changed);
      }
      inode.entries.clear();
      for (const [name, entry] of entries) inode.entries.set(name, entry);
      for (const entry of inode.entries.values()) restore(entry);
      inode.sync();
    };
    restore(tree.root);
  }

  /** Everything that is there now is on the disk for good. */
  syncAll(): void {
    const seen = new Set<Inode>();
    const sync = (inode: Inode): void => {
      if (seen.has(inode)) return;
      seen.add(inode);
      inode.sync();
      for (const entry of inode.entries.values()) sync(entry);
    };
    sync(this.tree.root);
  }

  /** A file that the kernel makes, such as those of /proc; parents are made. No loss of power takes it. */
  kernelFile(path: string, text: () => string): void {
    const { parent, name } = this.parentOf(path);
    const inode = new Inode("file", 0o444, "proc");
    inode.text = text;
    parent.setEntry(name, inode);
    parent.sync();
  }

  directory(path: string, fileSystem = "disk"): Inode {
    const { parent, name } = this.parentOf(path);
    const old = parent.entries.get(name);
    if (old !== undefined) return old;
    const made = new Inode("directory", 0o755, fileSystem);
    parent.setEntry(name, made);
    return made;
  }

  /** The root of the cgroup tree. */
  cgroupRoot(path: string): void {
    const { parent, name } = this.parentOf(path);
    const root = new Inode("directory", 0o755, CGROUPS);
    fillCgroup(root);
    parent.setEntry(name, root);
  }

  /** A program: its text tells nothing. */
  program(path: string): void {
    this.file(path, "", 0o755);
  }

  /** A file of somebody else's, who syncs it. */
  file(path: string, text: string, mode = 0o644): void {
    const { parent, name } = this.parentOf(path);
    const inode = new Inode("file", mode, "disk");
    inode.data = Buffer.from(text);
    inode.sync();
    parent.setEntry(name, inode);
    parent.sync();
    this.tree.announce(parent, name);
  }

  private parentOf(path: string): { parent: Inode; name: string } {
    const parts = path.split("/").filter((part) => part !== "");
    const name = parts.pop() ?? "";
    let parent = this.tree.root;
    for (const part of parts) {
      let next = parent.entries.get(part);
      if (next === undefined) {
        next = new Inode("directory", 0o755, "disk");
        parent.setEntry(part, next);
        parent.sync();
      }
      parent = next;
    }
    return { parent, name };
  }

  private tear(inode: Inode): void {
    const { random } = this;
    const synced = inode.durable.data;
    if (synced !== undefined && synced.equals(inode.data)) return;
    const share = random.next();
    if (share < 0.4) {
      inode.data = synced ?? Buffer.alloc(0);
    } else if (share < 0.7) {
      // The size is that of the end, some of its pages never came.
      const torn = Buffer.alloc(inode.data.length);
      inode.data.copy(torn, 0, 0, random.below(inode.data.length + 1));
      inode.data = torn;
    }
    inode.sync();
  }
}

export const disk = new MachineDisk();
