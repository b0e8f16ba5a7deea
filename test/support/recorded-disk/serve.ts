// The process behind a recorded disk. A process of its own: the test's threads wait in fsync for this process's
// replies. Every write and flush is in the log before the kernel hears of it. When the test has ended, or was killed,
// nothing that was mounted in the folder stays. Argument: the folder.

import { execFile } from "node:child_process";
import { open, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { serveFile, type DiskFile } from "./fuse-file.js";
import { flushEntry, writeEntry } from "./write-log.js";

const [folder = ""] = process.argv.slice(2);
const image = await open(join(folder, "image"), "r+");
const log = await open(join(folder, "log"), "w");
let entries = 0;

const disk: DiskFile = {
  size: (await image.stat()).size,
  async read(offset, length) {
    const data = Buffer.alloc(length);
    await image.read(data, 0, length, offset);
    return data;
  },
  async write(offset, data) {
    await log.writeFile(writeEntry(offset, data));
    entries++;
    await image.write(data, 0, data.length, offset);
  },
  async flush() {
    await log.writeFile(flushEntry());
    entries++;
  },
};

/** Not mounted any more is as good. */
const unmount = (path: string): Promise<void> =>
  new Promise((resolve) => execFile("umount", ["-l", path], () => resolve()));

process.on("message", (id) => process.send?.({ id, entries }));
const disconnected = new Promise<void>((resolve) => process.once("disconnect", resolve));
// Serving ends when nothing uses the file any more.
const unmounted = disconnected.then(async () => {
  for (const name of ["after", "live", "served"]) await unmount(join(folder, name));
});
await serveFile(join(folder, "served"), disk, () => process.send?.("mounted"));
await unmounted;
await log.close();
await image.close();
await unmount(folder);
await rmdir(folder);
