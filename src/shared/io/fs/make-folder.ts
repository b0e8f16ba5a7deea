// Makes a folder for files that outlive a power loss. A synced file is lost with its folder if that is new and only
// its own entries were synced: each new folder is an entry of the one above it.

import { mkdir } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { syncFolder } from "./sync-folder.js";

/** Resolves when the folder and those above it that are new are on disk. `mode`: that of the new ones. */
export async function makeFolder(folder: string, mode?: number): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode });
  if (first === undefined) return;
  for (let made = resolve(folder); made.length >= resolve(first).length; made = dirname(made)) {
    await syncFolder(dirname(made));
  }
}
