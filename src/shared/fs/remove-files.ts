// Removal of a folder with all in it, for folders that only the agent and the runtime write to. Node's own `rm` asks several
// times about each entry what it is; a folder's listing tells that already.
import { readdir, rmdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { unlessGone } from "./unless-gone.js";
import { errorCode } from "../errors/error-code.js";

/** What is made while the folder is being emptied is seen by the next try. */
const TRIES = 3;

/** What is not there is no error; a link is removed, not followed. Rejects with the system's error. */
export async function removeFiles(path: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await rmdir(path);
      return;
    } catch (error) {
      const code = errorCode(error);
      if (code === "ENOENT") return;
      if (code === "ENOTDIR") {
        await unlessGone(unlink(path));
        return;
      }
      if ((code !== "ENOTEMPTY" && code !== "EEXIST") || attempt > TRIES) throw error;
    }
    await empty(path);
  }
}

async function empty(folder: string): Promise<void> {
  const entries = (await unlessGone(readdir(folder, { withFileTypes: true }))) ?? [];
  await Promise.all(
    entries.map(async (entry) => {
      const path = join(folder, entry.name);
      if (!entry.isDirectory()) return unlessGone(unlink(path));
      await empty(path);
      return removeFiles(path);
    }),
  );
}
