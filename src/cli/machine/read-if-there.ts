// Reads small files of the kernel and the machine that may be missing.

import { readFile } from "node:fs/promises";

/** undefined: the file cannot be read. */
export async function readIfThere(path: string): Promise<string | undefined> {
  return await readFile(path, "utf8").catch(() => undefined);
}
