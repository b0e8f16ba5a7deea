// A small file system on a folder, which can be full (ENOSPC) or read-only (EROFS).

import { execFile } from "node:child_process";
import { open, unlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { errorCode } from "../../src/shared/base/errors/error-code.js";
import { waitFor } from "../../tools/standalone/wait.js";

const run = promisify(execFile);

export type DiskFailure = "full" | "read-only";
export const DISK_FAILURES: readonly DiskFailure[] = ["full", "read-only"];

export class FailingDisk implements AsyncDisposable {
  private constructor(private readonly folder: string) {}

  /** Hides the files of the folder. */
  static async on(folder: string): Promise<FailingDisk> {
    await run("mount", ["-t", "tmpfs", "-o", "size=64k", "nodelet-test", folder]);
    return new FailingDisk(folder);
  }

  async fail(how: DiskFailure): Promise<void> {
    if (how === "full") await fill(this.filler);
    else {
      // The kernel refuses while a file is open for writing: a state may still be on its way to the disk.
      const remount = (): Promise<true> => run("mount", ["-o", "remount,ro", this.folder]).then(() => true);
      await waitFor(remount, { what: `${this.folder} to be read-only`, intervalMs: 2 });
    }
  }

  async heal(how: DiskFailure): Promise<void> {
    if (how === "read-only") await run("mount", ["-o", "remount,rw", this.folder]);
    else await unlink(this.filler);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await run("umount", ["-l", this.folder]);
  }

  private get filler(): string {
    return join(this.folder, "filler");
  }
}

/** Writes until nothing more fits. */
async function fill(path: string): Promise<void> {
  const file = await open(path, "w");
  try {
    for (;;) await file.write(Buffer.alloc(4096));
  } catch (error) {
    if (errorCode(error) !== "ENOSPC") throw error;
  } finally {
    await file.close();
  }
}
