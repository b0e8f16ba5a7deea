// The agent's inotify (src/shared/io/os/inotify.ts) on the simulated disk.

import type { InotifyEvent, InotifyListener } from "../../../src/shared/io/os/inotify.js";
import type { Inode } from "../disk/inode.js";
import { disk } from "../disk/machine-disk.js";
import type { Change, FileChange } from "../disk/tree.js";
import { kernel } from "../kernel/kernel.js";

export const IN = {
  MODIFY: 0x2,
  ATTRIB: 0x4,
  CLOSE_WRITE: 0x8,
  CLOSE_NOWRITE: 0x10,
  OPEN: 0x20,
  MOVED_FROM: 0x40,
  MOVED_TO: 0x80,
  CREATE: 0x100,
  DELETE: 0x200,
  DELETE_SELF: 0x400,
  MOVE_SELF: 0x800,
  UNMOUNT: 0x2000,
  Q_OVERFLOW: 0x4000,
  IGNORED: 0x8000,
} as const;

const MASKS: Readonly<Record<Parameters<Change>[2], number>> = {
  created: IN.CREATE,
  removed: IN.DELETE,
  written: IN.MODIFY,
  closed: IN.CLOSE_WRITE,
};

const FILE_MASKS: Readonly<Record<Parameters<FileChange>[1], number>> = {
  written: IN.MODIFY,
  closed: IN.CLOSE_WRITE,
  moved: IN.MOVE_SELF,
};

export class Inotify implements Disposable {
  private readonly watched = new Map<number, { inode: Inode; mask: number }>();
  private numbers = 0;
  private readonly change: Change;
  private readonly fileChange: FileChange;

  constructor(listener: InotifyListener) {
    const owner = kernel.current;
    this.change = (directory, name, kind) => {
      if (!owner.isAlive) disk.tree.watchers.delete(this.change);
      for (const [watch, { inode, mask }] of this.watched) {
        if (inode !== directory || (mask & MASKS[kind]) === 0) continue;
        const event: InotifyEvent = { watch, mask: MASKS[kind], cookie: 0, name };
        kernel.post(owner, () => {
          if (this.watched.has(watch)) listener.onEvents([event]);
        });
      }
    };
    disk.tree.watchers.add(this.change);
    this.fileChange = (changed, kind) => {
      if (!owner.isAlive) disk.tree.fileWatchers.delete(this.fileChange);
      const event = FILE_MASKS[kind];
      for (const [watch, { inode, mask }] of this.watched) {
        if (inode !== changed || (mask & event) === 0) continue;
        kernel.post(owner, () => {
          if (this.watched.has(watch)) listener.onEvents([{ watch, mask: event, cookie: 0, name: "" }]);
        });
      }
    };
  }

  watch(path: string, mask: number): number {
    const inode = disk.tree.lookUp(path, "inotify_add_watch");
    if (inode.kind === "file") disk.tree.fileWatchers.add(this.fileChange);
    for (const [watch, known] of this.watched) {
      if (known.inode !== inode) continue;
      known.mask = mask;
      return watch;
    }
    const watch = ++this.numbers;
    this.watched.set(watch, { inode, mask });
    return watch;
  }
  unwatch(watch: number): void {
    this.watched.delete(watch);
  }
  unref(): this {
    return this;
  }
  [Symbol.dispose](): void {
    this.watched.clear();
    disk.tree.watchers.delete(this.change);
    disk.tree.fileWatchers.delete(this.fileChange);
  }
}
