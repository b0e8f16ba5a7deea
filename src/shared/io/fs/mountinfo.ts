// /proc/<pid>/mountinfo as data. Format: proc_pid_mountinfo(5).

import { readFile } from "node:fs/promises";
import { replaceEach } from "../../base/text/linear.js";
import { sharedRead } from "../../base/turns/shared-read.js";

export interface Mount {
  id: number;
  parentId: number;
  /** The directory of the mounted filesystem that shows at `mountPoint`; "/" unless bind-mounted or namespaced. */
  root: string;
  mountPoint: string;
  fsType: string;
  source: string;
  /** Per-mount options, then per-filesystem options. */
  options: string[];
  superOptions: string[];
}

/** Lines that do not have the documented form are left out. */
export function parseMountinfo(text: string): Mount[] {
  const mounts: Mount[] = [];
  for (const line of text.split("\n")) {
    if (!line.includes(" - ")) continue;
    const [left = "", right = ""] = line.split(" - ", 2);
    const [id, parentId, , root, mountPoint, options] = left.split(" ");
    const [fsType, source, superOptions] = right.split(" ");
    if (root === undefined || mountPoint === undefined || fsType === undefined || fsType === "") continue;
    mounts.push({
      id: Number(id),
      parentId: Number(parentId),
      root: unescapeMountField(root),
      mountPoint: unescapeMountField(mountPoint),
      fsType,
      source: unescapeMountField(source ?? ""),
      options: options?.split(",") ?? [],
      superOptions: superOptions?.split(",") ?? [],
    });
  }
  return mounts;
}

/** The kernel returns the table by pages, and each page needs the pool once. So a burst of pods shares its readings. */
export const readMountTable = sharedRead(() => readFile("/proc/self/mountinfo", "utf8"));

/** Mounts of this process's namespace, in the order they were made. */
export async function readMounts(): Promise<readonly Mount[]> {
  return parseMountinfo(await readMountTable());
}

/** As mountsWithin(readMounts()). */
export async function readMountsWithin(directory: string): Promise<Mount[]> {
  return parseMountsWithin(await readMountTable(), directory);
}

/** As mountsWithin(parseMountinfo()); lines that do not name the directory are not parsed. @internal */
export function parseMountsWithin(text: string, directory: string): Mount[] {
  return mountsWithin(parseMountinfo(linesWith(text, escape(directory))), directory);
}

/** Mounts at `directory` or below it, deepest first: the order in which they can be unmounted. */
export function mountsWithin(mounts: readonly Mount[], directory: string): Mount[] {
  return mounts
    .filter(({ mountPoint }) => mountPoint === directory || mountPoint.startsWith(`${directory}/`))
    .reverse()
    .sort((a, b) => b.mountPoint.length - a.mountPoint.length);
}

/** The lines of a text that contain `word`. */
function linesWith(text: string, word: string): string {
  const lines: string[] = [];
  for (let at = text.indexOf(word); at !== -1;) {
    const end = text.indexOf("\n", at);
    lines.push(text.slice(text.lastIndexOf("\n", at) + 1, end === -1 ? undefined : end));
    at = end === -1 ? -1 : text.indexOf(word, end);
  }
  return lines.join("\n");
}

function escape(path: string): string {
  return path.replace(/[ \t\n\\]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`);
}

/** What the kernel escapes; the backslash last, as each of the others has one. */
const KERNEL_ESCAPES = [
  ["\\040", " "],
  ["\\011", "\t"],
  ["\\012", "\n"],
  ["\\043", "#"],
  ["\\134", "\\"],
] as const;
const OTHER_ESCAPE = /\\(?!040|011|012|043|134)[0-7]{3}/;

/** The text of a field, whose escapes are those of a byte in three octal digits. */
export function unescapeMountField(field: string): string {
  if (!field.includes("\\")) return field;
  if (!OTHER_ESCAPE.test(field)) return replaceEach(field, KERNEL_ESCAPES);
  const bytes = Buffer.from(field, "utf8");
  let end = 0;
  for (let at = 0; at < bytes.length; at++) {
    const code = bytes[at] === BACKSLASH ? octalAt(bytes, at + 1) : undefined;
    bytes[end++] = code ?? bytes[at] ?? 0;
    if (code !== undefined) at += 3;
  }
  return bytes.toString("utf8", 0, end);
}

const [BACKSLASH, ZERO] = ["\\".charCodeAt(0), "0".charCodeAt(0)];

/** The byte of three octal digits. */
function octalAt(bytes: Buffer, at: number): number | undefined {
  let code = 0;
  for (const byte of [bytes[at], bytes[at + 1], bytes[at + 2]]) {
    const digit = (byte ?? 0) - ZERO;
    if (digit < 0 || digit > 7) return undefined;
    code = code * 8 + digit;
  }
  return code & 0xff;
}
