// Removal of a folder with all in it, e.g. a pod's logs. Node's own `rm` calls stat several times for each entry; the
// folder's listing already contains the types.
// Invariant: no link is followed, also not one that takes a folder's place meanwhile; a folder of any width is emptied
// in batches.

import { rmdir, unlink } from "fs/promises";
import { join } from "path/posix";
import { errorCode } from "../../../shared/base/errors/error-code.js";
import { unlessGone } from "../../../shared/base/errors/unless-gone.js";
import { inUntrustedFolder, NotFolderError, entriesOf } from "../../../shared/io/fs/untrusted-folder.js";

/** Files created while the directory is being emptied are removed by the next try. */
const TRIES = 3;
/** Files removed at a time. */
const BATCH = 64;
/** Each level has a descriptor open. */
const DEEPEST = 100;

/** A missing path is no error; a link is removed, not followed. Rejects with the system's error. */
export async function removeFiles(path: string, depth = 0): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await rmdir(path);
      return;
    } catch (error) {
      const code = errorCode(error);
      // A name that is too long for the file system: there can be no such folder.
      if (code === "ENOENT" || code === "ENAMETOOLONG") return;
      if (code === "ENOTDIR") {
        await unlessGone(unlink(path));
        return;
      }
      if ((code !== "ENOTEMPTY" && code !== "EEXIST") || attempt > TRIES) throw error;
    }
    if (depth === DEEPEST) throw new Error(`${path} lies more than ${DEEPEST} directories deep; remove it by hand`);
    try {
      // With one level the folder itself is no link.
      await inUntrustedFolder(path, (folder) => empty(folder, depth), 1);
    } catch (error) {
      // It was removed, or something else has its place: the next try finds out.
      if (!(error instanceof NotFolderError) && errorCode(error) !== "ENOENT") throw error;
    }
  }
}

async function empty(folder: string, depth: number): Promise<void> {
  let files: string[] = [];
  const flush = async (): Promise<void> => {
    await Promise.all(files.map((path) => unlessGone(unlink(path))));
    files = [];
  };
  for await (const entry of entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await removeFiles(path, depth + 1);
    else if (files.push(path) === BATCH) await flush();
  }
  await flush();
}
