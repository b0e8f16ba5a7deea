// Manifests whose file name is no UTF-8, as an archive of another system may have it. Node.js reads such a name with
// U+FFFD in it, and no file has that name.

import { isUtf8 } from "node:buffer";
import { readdir } from "node:fs/promises";

const REPLACED = "\ufffd";

/** Those among the names of a folder, as Node.js reads them. The folder is read again if there may be some. */
export async function misnamedFiles(folder: string, names: readonly string[]): Promise<string[]> {
  if (!names.some((name) => name.includes(REPLACED))) return [];
  const entries = await readdir(folder, { encoding: "buffer" });
  return entries.filter((entry) => !isUtf8(entry)).map((entry) => entry.toString("utf8"));
}
