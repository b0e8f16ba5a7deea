// Tells that a manifest was removed, even when another of its name is there a moment later: that makes a pod start anew, a
// rename over it does not, and fs.watch cannot tell the two apart. Best effort: without inotify the files are still looked at.
import { isNativeBinding, isOsCallError } from "../../shared/os/errors.js";
import { IN, Inotify, type InotifyEvent } from "../../shared/os/inotify.js";

export class RemovalWatch implements Disposable {
  private inotify: Inotify | undefined;
  private current: number | undefined;

  /** @param onRemoved gets the name of the entry that went */
  constructor(private readonly onRemoved: (name: string) => void) {}

  /** Cheap when the folder is the one that is watched already; another one of its name takes its place. */
  watch(folder: string): void {
    try {
      this.inotify ??= new Inotify({
        onEvents: (events) => this.onEvents(events),
        onError: () => this[Symbol.dispose](),
      }).unref();
      const before = this.current;
      this.current = this.inotify.watch(folder, IN.DELETE | IN.MOVED_FROM);
      if (before !== undefined && before !== this.current) this.inotify.unwatch(before);
    } catch (error) {
      // The folder is not there, or there is no instance to be had: the next scan tries again.
      if (!isOsCallError(error) && !isNativeBinding(error)) throw error;
    }
  }

  [Symbol.dispose](): void {
    this.inotify?.[Symbol.dispose]();
    this.inotify = undefined;
    this.current = undefined;
  }

  private onEvents(events: readonly InotifyEvent[]): void {
    for (const { watch, mask, name } of events) {
      if (watch === this.current && (mask & (IN.DELETE | IN.MOVED_FROM)) !== 0) this.onRemoved(name);
    }
  }
}
