// Small files of the node's operator and of our own, of a bounded size.

import { openUntrusted, readWhole } from "../../shared/io/fs/untrusted-file.js";

/** Rejects when the file is missing, no regular file, or longer than `maxBytes`. */
export async function readText(path: string, maxBytes: number): Promise<string> {
  const file = await openUntrusted(path);
  try {
    return (await readWhole(file, path, maxBytes)).toString("utf8");
  } finally {
    await file.handle.close();
  }
}
