// Calls back once, at the next write to an idle log. If the kernel has no inotify watch left, the periodic check
// replaces it.

import { watch, type FSWatcher } from "node:fs";

export class WriteWatch implements Disposable {
  private watcher: FSWatcher | undefined;
  private fired = false;

  /** @param ino of the file at `path` */
  constructor(
    path: string,
    readonly ino: bigint,
    onWrite: () => void,
  ) {
    const once = (): void => {
      if (this.watcher === undefined) return;
      this[Symbol.dispose]();
      this.fired = true;
      onWrite();
    };
    try {
      this.watcher = watch(path, { persistent: false }, once);
      this.watcher.on("error", () => this[Symbol.dispose]());
    } catch {
      this.watcher = undefined; // gone, or out of watches
    }
  }

  /** The kernel watches, and no write has come yet. */
  get isArmed(): boolean {
    return this.watcher !== undefined;
  }
  get hasFired(): boolean {
    return this.fired;
  }

  [Symbol.dispose](): void {
    const { watcher } = this;
    this.watcher = undefined;
    watcher?.close();
  }
}
