// Watches the folder of objects and those below it: resources, then namespaces. A folder that comes is watched, and its
// files are reported.

import { watch, type FSWatcher } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "../../../shared/base/errors/error-code.js";
import { asError } from "../../../shared/base/errors/thrown.js";

/** Levels of folders below the root. */
const DEPTH = 2;
const GONE = new Set<string | undefined>(["ENOENT", "ENOTDIR"]);

export interface FolderWatchOptions {
  root: string;
  /** A file may have come, changed or gone; its path below the root. */
  onFile: (path: string) => void;
  /** A folder has come, or has gone with its files. */
  onFolder: (path: string) => void;
  /** A folder cannot be watched. */
  onProblem: (error: Error) => void;
}

export class FolderWatch {
  readonly #watchers = new Map<string, FSWatcher>();
  #closed = false;

  constructor(private readonly options: FolderWatchOptions) {}

  /** Files that are there now are not reported. */
  start(): Promise<void> {
    return this.#follow("", false);
  }

  close(): void {
    this.#closed = true;
    for (const path of [...this.#watchers.keys()]) this.#forget(path);
  }

  async #follow(folder: string, reports: boolean): Promise<void> {
    if (this.#closed || this.#watchers.has(folder)) return;
    const { root, onFile, onProblem } = this.options;
    try {
      const watcher = watch(join(root, folder), { persistent: false }, (_, name) => {
        if (name !== null) this.#changed(join(folder, name));
      });
      watcher.on("error", () => this.#forget(folder));
      this.#watchers.set(folder, watcher);
      for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
        const path = join(folder, entry.name);
        if (!entry.isDirectory()) {
          if (reports) onFile(path);
        } else if (depthOf(path) <= DEPTH) await this.#follow(path, reports);
      }
    } catch (error) {
      this.#forget(folder);
      if (!GONE.has(errorCode(error))) onProblem(asError(error));
    }
  }

  #changed(path: string): void {
    if (depthOf(path) > DEPTH) {
      this.options.onFile(path);
      return;
    }
    // A folder of this name may be another one now.
    this.#forget(path);
    this.options.onFolder(path);
    void this.#follow(path, true);
  }

  #forget(path: string): void {
    this.#watchers.get(path)?.close();
    this.#watchers.delete(path);
  }
}

const depthOf = (path: string): number => path.split("/").length;
