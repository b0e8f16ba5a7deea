// Reads a small text file that another program owns: a configuration is never large.

import { openUntrusted, readWhole } from "../../shared/io/fs/untrusted-file.js";

const LIMIT_BYTES = 1024 * 1024;

/** Follows a link. @throws if the file cannot be read, is no regular file, or is too large */
export async function readBounded(path: string): Promise<string> {
  const { handle } = await openUntrusted(path, { followLink: true });
  try {
    return (await readWhole(handle, path, LIMIT_BYTES)).toString();
  } finally {
    await handle.close();
  }
}
