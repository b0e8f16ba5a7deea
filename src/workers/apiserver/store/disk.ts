// What the store does on the disk, one method for each step after which a machine may lose power.

import { open, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errorCode } from "../../../shared/base/errors/error-code.js";
import { atomicWrite, isTemporaryName } from "../../../shared/io/fs/atomic-write.js";
import { makeFolder } from "../../../shared/io/fs/make-folder.js";
import { readTextIfThere } from "../../../shared/io/fs/regular-file.js";
import { STATE_LIMIT } from "../../../shared/io/fs/state-file.js";
import { syncFolder } from "../../../shared/io/fs/sync-folder.js";
import { checkedWrite, type CheckedWriteOptions } from "../../../shared/io/os/checked-write.js";

/** What the log needs of an open file. */
export interface Appendable {
  appendFile(text: string): Promise<void>;
  /** Resolves when all that was appended survives a loss of power. */
  datasync(): Promise<void>;
  /** Cuts the file to its first bytes. */
  truncate(bytes: number): Promise<void>;
  close(): Promise<void>;
}

export interface Disk {
  /** Makes the file, for its owner only, if there is none. */
  open(path: string): Promise<Appendable>;
  /** Puts a file in place whole and synced, or not at all. */
  replace(path: string, text: string, mode: number): Promise<void>;
  /** As replace(), unless the present file may not be replaced: false, then. */
  replaceIf(path: string, text: string, options: CheckedWriteOptions): Promise<boolean>;
  /** Resolves when a loss of power does not bring the file back. */
  remove(path: string): Promise<void>;
  /** undefined: there is no such file. */
  read(path: string): Promise<string | undefined>;
  /** Paths of all files below a folder; those of writes that were cut are removed. */
  files(folder: string): Promise<string[]>;
}

export const nodeDisk: Disk = {
  open: (path) => open(path, "a", 0o600),
  replace: (path, text, mode) => atomicWrite(path, text, { mode }),
  replaceIf: checkedWrite,
  async remove(path) {
    await rm(path, { force: true });
    // Also of a file that was gone: its removal by hand, or before a sync that failed, is not on the disk.
    await syncFolder(dirname(path)).catch((error: unknown) => {
      if (errorCode(error) !== "ENOENT") throw error;
    });
  },
  read: (path) => readTextIfThere(path, STATE_LIMIT),
  async files(folder) {
    await makeFolder(folder, 0o700);
    const found: string[] = [];
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (!entry.isFile()) continue;
      if (isTemporaryName(entry.name)) await rm(path, { force: true });
      else found.push(path);
    }
    return found.sort();
  },
};
