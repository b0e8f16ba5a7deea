// Kernel files that every sample reads stay open, and files that rarely change are read rarely. Invariant: each open
// file is closed when it is no longer read, or when it was removed; a new file under the old path is opened again.

import { closeSync, openSync, readSync } from "node:fs";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { readKernelText, type ReadText } from "../../../shared/node/stats/kernel-file.js";

/** Beyond so many, files are opened for each read. */
const MOST = 4096;
/** A file is closed that was not read for so long. */
const IDLE_MS = 30_000;
/** The longest, memory.stat, has half of that. What does not fit is read the long way. */
const BUFFER = 8192;

interface Kept {
  fd: number;
  readAt: number;
}

export class KeptFiles {
  private readonly files = new Map<string, Kept>();
  private readonly buffer = Buffer.allocUnsafeSlow(BUFFER);

  constructor(
    private readonly clock: Pick<Clock, "monotonic">,
    private readonly most = MOST,
  ) {}

  readonly read: ReadText = (path) => {
    const kept = this.files.get(path);
    if (kept !== undefined) {
      kept.readAt = this.clock.monotonic();
      const text = this.textOf(kept.fd, path);
      if (text !== undefined) return text;
      this.drop(path, kept);
    }
    if (this.files.size >= this.most) return readKernelText(path);
    const fd = open(path);
    if (fd === undefined) return undefined;
    const text = this.textOf(fd, path);
    if (text === undefined) closeSync(fd);
    else this.files.set(path, { fd, readAt: this.clock.monotonic() });
    return text;
  };

  /** Closes files that were not read for a while. */
  prune(): void {
    const now = this.clock.monotonic();
    for (const [path, kept] of this.files) if (now - kept.readAt >= IDLE_MS) this.drop(path, kept);
  }

  close(): void {
    for (const [path, kept] of this.files) this.drop(path, kept);
  }

  get size(): number {
    return this.files.size;
  }

  private textOf(fd: number, path: string): string | undefined {
    try {
      const length = readSync(fd, this.buffer, 0, BUFFER, 0);
      return length === BUFFER ? readKernelText(path) : this.buffer.toString("latin1", 0, length);
    } catch {
      // The cgroup was removed: its open files report ENODEV.
      return undefined;
    }
  }

  private drop(path: string, { fd }: Kept): void {
    this.files.delete(path);
    closeSync(fd);
  }
}

function open(path: string): number | undefined {
  try {
    return openSync(path, "r");
  } catch {
    return undefined;
  }
}
