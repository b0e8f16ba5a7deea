// Marks that containers leave in a shared folder. So the benchmark sees a process start or stop without the kubelet.

import { watch, type FSWatcher } from "node:fs";
import { mkdir, rm } from "node:fs/promises";

/** Shell for a container: marks its start, and its SIGTERM, in /marks. `$N` is its name. */
export const MARKING_SCRIPT =
  'i=$(ls /marks | grep -c "^$N.start"); trap ": > /marks/$N.term.$i; exit 0" TERM; : > /marks/$N.start.$i; ' +
  "while :; do sleep 3600 & wait $!; done";

/** Shell for a container that ends at once: its mark is its last act. */
export const ENDING_SCRIPT = ": > /marks/$N.end";

export class Marks {
  private readonly seen = new Map<string, number>();
  private readonly waiting = new Map<string, (at: number) => void>();
  private watcher: FSWatcher | undefined;

  constructor(readonly directory: string) {}

  async open(): Promise<void> {
    await rm(this.directory, { recursive: true, force: true });
    await mkdir(this.directory, { recursive: true });
    this.watcher = watch(this.directory, (_, name) => {
      if (name === null || this.seen.has(name)) return;
      const at = performance.now();
      this.seen.set(name, at);
      this.waiting.get(name)?.(at);
      this.waiting.delete(name);
    });
  }

  close(): void {
    this.watcher?.close();
  }

  /** Time of the mark, on performance.now()'s scale. */
  at(name: string, timeoutMs = 60_000): Promise<number> {
    const known = this.seen.get(name);
    if (known !== undefined) return Promise.resolve(known);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.waiting.delete(name);
        reject(new Error(`no mark ${name} within ${timeoutMs} ms; seen: ${[...this.seen.keys()].slice(-5).join(" ")}`));
      }, timeoutMs);
      this.waiting.set(name, (at) => {
        clearTimeout(timer);
        resolve(at);
      });
    });
  }
}
