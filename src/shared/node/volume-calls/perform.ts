// Operations on files of volumes, by file system calls of this very process.

import { chmod, chown, mkdir, open, opendir, stat, statfs } from "node:fs/promises";
import { readTail } from "../../io/fs/untrusted-file.js";
import type { LocalName, Performer } from "./operations.js";
import { bindSubPath } from "./sub-path.js";

export const perform: Performer<LocalName> = {
  async stat({ path }) {
    const { mode, uid, gid, dev, ino } = await stat(path);
    return { mode, uid, gid, dev, ino };
  },
  async statfs({ path }) {
    const { bsize, blocks, bfree, bavail, files, ffree } = await statfs(path);
    return { bsize, blocks, bfree, bavail, files, ffree };
  },
  async mkdir({ path, mode }) {
    await mkdir(path, { recursive: true, mode });
    return undefined;
  },
  async touch({ path, mode }) {
    await (await open(path, "a", mode)).close();
    return undefined;
  },
  async isEmpty({ path }) {
    // A for-await loop closes the directory on every way out.
    for await (const _entry of await opendir(path)) return false;
    return true;
  },
  async readTail({ path, maxBytes }) {
    return await readTail(path, maxBytes);
  },
  async give({ path, uid, gid, mode }) {
    await chown(path, uid, gid);
    await chmod(path, mode);
    return undefined;
  },
  bindSubPath,
};
