// Links below /dev/disk/by-path, as udev makes them, with names that no disk of the machine has.

import { mkdir, readdir, rm, rmdir, symlink } from "node:fs/promises";

export const BY_PATH = "/dev/disk/by-path";

export interface ByPathLinks {
  link(name: string, device: string): Promise<void>;
  /** Removes the links whose names have one of the words, and the directories that are empty then. */
  clear(...words: string[]): Promise<void>;
}

export function byPathLinks(): ByPathLinks {
  return {
    async link(name, device) {
      for (;;) {
        await mkdir(BY_PATH, { recursive: true });
        try {
          await symlink(device, `${BY_PATH}/${name}`);
          return;
        } catch (error) {
          // A test that runs beside this one may remove the empty directory.
          if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
        }
      }
    },
    async clear(...words) {
      for (const name of (await readdir(BY_PATH).catch(() => [])).filter((one) =>
        words.some((word) => one.includes(word)),
      ))
        // A logout that is not finished may remove its own.
        await rm(`${BY_PATH}/${name}`, { force: true });
      // The machine's own disks keep them.
      for (const directory of [BY_PATH, "/dev/disk"]) await rmdir(directory).catch(() => undefined);
    },
  };
}
