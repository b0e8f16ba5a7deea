// A new, renamed or removed file is on disk when its folder is: fsync(2).

import { open } from "node:fs/promises";

export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
