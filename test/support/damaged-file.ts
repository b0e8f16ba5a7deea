// Kinds of damage to a file that a kubelet reads at its start.

import { mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { basename } from "node:path";

export type Damage = (path: string) => Promise<void>;

const replacedBy =
  (make: (path: string) => Promise<unknown>): Damage =>
  async (path) => {
    await rm(path, { recursive: true, force: true });
    await make(path);
  };

/** The content is changed; the file stays readable. */
export const content =
  (change: (good: string) => string): Damage =>
  async (path) =>
    writeFile(path, change(await readFile(path, "utf8")));

/** Whatever the file says. */
export const UNUSABLE: Readonly<Record<string, Damage>> = {
  empty: content(() => ""),
  truncated: content((good) => good.slice(0, good.length / 2)),
  "not JSON": content(() => "\u0000\u0001garbage"),
  "JSON null": content(() => "null"),
  "a JSON list": content((good) => `[${good}]`),
  "a directory": replacedBy((path) => mkdir(`${path}/full`, { recursive: true })),
};

/** The system call fails. */
export const UNREADABLE: Readonly<Record<string, Damage>> = {
  "a loop of links": replacedBy((path) => symlink(basename(path), path)),
  // Reading the memory of address 0 fails with EIO.
  "unreadable (EIO)": replacedBy((path) => symlink("/proc/self/mem", path)),
};
