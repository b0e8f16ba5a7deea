// Sub paths: a part of a volume that a container may have written itself, symlinks included. The part is opened
// component by component from handles on directories; the opened handle, not its name, is bind-mounted. Invariant: no
// link is followed by the kernel; one that leads out of the volume is refused before anything behind it is touched.

import { constants } from "node:fs";
import { mkdir, open, readlink, realpath, rmdir, stat, unlink, type FileHandle } from "node:fs/promises";
import { posix } from "node:path";
import { errorCode } from "../../base/errors/error-code.js";
import { messageOf } from "../../base/errors/thrown.js";
import { mount } from "../../io/os/mount.js";
import { SubPathError } from "./errors.js";
import type { BindSubPath } from "./operations.js";

// O_PATH: a handle on the place itself, of any type; Node does not name the flag.
const O_PATH = 0o10000000;
/** With setgid and sticky bit: files created below belong to the volume's group, too. */
const PERMISSIONS = 0o7777;
const TARGET_MODE = 0o750;
/** The kernel's limit. */
const LONGEST_CHAIN = 40;

/**
 * Mounts the sub path at the target. A missing sub path is made as a directory with the volume's permissions.
 * Idempotent.
 * @throws SubPathError, OsCallError
 */
export async function bindSubPath({ volumePath, subPath, target, mounted }: BindSubPath): Promise<"bound" | "other"> {
  const place = await openSubPath(volumePath, subPath);
  try {
    const source = await place.stat();
    if (mounted) {
      const there = await stat(target);
      return there.dev === source.dev && there.ino === source.ino ? "bound" : "other";
    }
    await makeTarget(target, source.isDirectory());
    // The kernel resolves this to the open file, even if its name refers to another one by now.
    await mount({ source: `/proc/self/fd/${place.fd}`, target, flags: ["bind"] });
    return "bound";
  } finally {
    await place.close();
  }
}

/**
 * The target of an earlier run is of the other type when a container has put a file in a directory's place, or the
 * reverse.
 */
async function makeTarget(target: string, isDirectory: boolean): Promise<void> {
  const make = async (): Promise<void> => {
    if (isDirectory) await mkdir(target, { recursive: true, mode: TARGET_MODE });
    else await (await open(target, "a", 0o640)).close();
  };
  try {
    await make();
  } catch (error) {
    if (!OTHER_TYPE.has(errorCode(error) ?? "")) throw error;
    // Nothing is mounted there, so a directory is empty: never is anything inside removed.
    await (isDirectory ? unlink(target) : rmdir(target));
    await make();
  }
}

const OTHER_TYPE: ReadonlySet<string> = new Set(["EEXIST", "EISDIR"]);

/**
 * A handle (O_PATH) on the sub path, which is made unless `make` is false; the caller closes it.
 * @throws SubPathError
 */
export async function openSubPath(
  volumePath: string,
  subPath: string,
  { make = true }: { make?: boolean } = {},
): Promise<FileHandle> {
  const parts = subPath.split("/").filter((part) => part !== "" && part !== ".");
  if (subPath.startsWith("/")) throw new SubPathError(subPath, "must be relative");
  if (parts.includes("..")) throw new SubPathError(subPath, "must not contain '..'");
  const walk = new Walk(subPath, [volumePath, await realpath(volumePath)], make);
  return walk.to(parts);
}

class Walk {
  /** Handles on the directories from the volume down to here. */
  private readonly handles: FileHandle[] = [];
  private links = 0;

  constructor(
    private readonly subPath: string,
    /** The volume's path, and the same with its links resolved. */
    private readonly roots: readonly [string, string],
    private readonly make: boolean,
  ) {}

  async to(parts: readonly string[]): Promise<FileHandle> {
    try {
      this.handles.push(await open(this.roots[1], O_PATH | constants.O_NOFOLLOW | constants.O_DIRECTORY));
      const ahead = [...parts].reverse();
      for (let part = ahead.pop(); part !== undefined; part = ahead.pop()) await this.step(part, ahead);
      const last = this.handles.pop();
      if (last === undefined) throw new SubPathError(this.subPath, "leads nowhere");
      return last;
    } finally {
      for (const handle of this.handles) await handle.close();
    }
  }

  /** Parts of a link's target go to `ahead`, which is in reverse order. */
  private async step(part: string, ahead: string[]): Promise<void> {
    if (part === "" || part === ".") return;
    if (part === "..") return this.up();
    const here = `/proc/self/fd/${this.here().fd}/${part}`;
    let handle = await this.open(here);
    if (handle === undefined) {
      await this.makeDirectory(here);
      handle = await this.open(here);
    }
    if (handle === undefined) throw new SubPathError(this.subPath, "was removed while it was being opened");
    this.handles.push(handle);
    if (!(await handle.stat()).isSymbolicLink()) return;
    await this.handles.pop()?.close();
    const target = await readlink(here).catch((error: unknown) => {
      throw new SubPathError(this.subPath, `changed while it was being opened: ${messageOf(error)}`);
    });
    await this.follow(target, ahead);
  }

  private here(): FileHandle {
    const last = this.handles.at(-1);
    if (last === undefined) throw new SubPathError(this.subPath, "leads out of the volume");
    return last;
  }

  private async up(): Promise<void> {
    if (this.handles.length < 2) throw new SubPathError(this.subPath, "leads out of the volume");
    await this.handles.pop()?.close();
  }

  private async follow(target: string, ahead: string[]): Promise<void> {
    if (++this.links > LONGEST_CHAIN) throw new SubPathError(this.subPath, "has too many levels of symbolic links");
    if (!target.startsWith("/")) {
      ahead.push(...target.split("/").reverse());
      return;
    }
    const wanted = posix.normalize(target);
    const root = this.roots.find((one) => wanted === one || wanted.startsWith(`${one}/`));
    if (root === undefined) throw new SubPathError(this.subPath, `leads out of the volume, to ${target}`);
    while (this.handles.length > 1) await this.up();
    ahead.push(...wanted.slice(root.length).split("/").reverse());
  }

  /** undefined: there is nothing, and it may be made. */
  private async open(place: string): Promise<FileHandle | undefined> {
    try {
      return await open(place, O_PATH | constants.O_NOFOLLOW);
    } catch (error) {
      if (this.make && error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
      throw new SubPathError(this.subPath, messageOf(error));
    }
  }

  private async makeDirectory(place: string): Promise<void> {
    // With the permissions of the volume's own directory.
    const mode = ((await this.handles[0]?.stat())?.mode ?? 0) & PERMISSIONS;
    try {
      await mkdir(place, mode);
      // mkdir's mode is cut by the umask.
      const made = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_DIRECTORY);
      try {
        await made.chmod(mode);
      } finally {
        await made.close();
      }
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "EEXIST") return;
      throw new SubPathError(this.subPath, messageOf(error));
    }
  }
}
