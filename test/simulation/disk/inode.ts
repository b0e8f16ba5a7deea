// What a path leads to, and what of it is on the disk for good.
// Invariant: `durable` changes by a sync only; a crash of the machine falls back to it.

import { kernel } from "../kernel/kernel.js";

export type Kind = "file" | "directory" | "link" | "socket";

/** Content and entries at the last sync. Undefined: never synced. */
export interface Durable {
  data?: Buffer;
  entries?: Map<string, Inode>;
}

let numbers = 0;

export class Inode {
  readonly number = ++numbers;
  data: Buffer = Buffer.alloc(0);
  readonly entries = new Map<string, Inode>();
  target = "";
  /** Bytes of a file beyond its data: what a container wrote, and no program reads. */
  bulk = 0;
  /** Bytes that it has beyond these, where a container still writes. */
  grows: (() => number) | undefined;
  uid = 0;
  gid = 0;
  links = 1;
  modifiedAt = kernel.wall;
  changedAt = kernel.wall;
  durable: Durable = {};
  /** Changes of a directory's entries since the last sync, in their order. */
  unsynced: { name: string; inode: Inode | undefined }[] = [];
  /** The root of a file system that is mounted here. */
  mounted: Inode | undefined;
  /** Text of a file that the kernel makes when it is read. */
  text: (() => string) | undefined;
  /** Takes the text that a program writes to a file of the kernel. */
  written: ((text: string) => void) | undefined;

  constructor(
    readonly kind: Kind,
    public mode: number,
    /** The file system: "disk" survives a reboot. */
    readonly fileSystem: string,
  ) {}

  /** Sets or removes (undefined) the entry of a directory. */
  setEntry(name: string, inode: Inode | undefined): void {
    if (inode === undefined) this.entries.delete(name);
    else this.entries.set(name, inode);
    this.unsynced.push({ name, inode });
    this.modifiedAt = kernel.wall;
    this.changedAt = kernel.wall;
  }

  get size(): number {
    return this.data.length + this.bulk + (this.grows?.() ?? 0);
  }

  setData(data: Buffer): void {
    this.data = data;
    this.modifiedAt = kernel.wall;
    this.changedAt = kernel.wall;
  }

  /** fsync(2) */
  sync(): void {
    if (this.kind === "directory") {
      this.durable.entries = new Map(this.entries);
      this.unsynced = [];
    } else this.durable.data = Buffer.from(this.data);
  }
}
