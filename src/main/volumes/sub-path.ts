// subPath mounts: a part of a volume that a container may have written itself, symlinks included. The part is opened
// component by component without following links, and what was opened, not its name, is bind-mounted to a place only
// the agent can change. INVARIANT: the runtime never resolves a path that a container controls.
import { constants } from "node:fs";
import { mkdir, open, realpath, stat, type FileHandle } from "node:fs/promises";
import path from "node:path";
import { mount } from "../../shared/os/mount.js";
import { SubPathError } from "./errors.js";
import { isMountPoint, unmount } from "./mounts.js";
import { POD_DIRECTORY_MODE, subPathsDirectory } from "./paths.js";

export interface SubPathRequest {
  podUid: string;
  volume: string;
  container: string;
  /** Position in the container's volumeMounts. */
  index: number;
  /** The volume's host path. */
  volumePath: string;
  /** Relative, without "..". */
  subPath: string;
  signal: AbortSignal;
}

// O_PATH: a handle on the place itself, whatever it is; Node does not name the flag.
const O_PATH = 0o10000000;
/** With setgid and sticky bit: what is made below belongs to the volume's group, too. */
const PERMISSIONS = 0o7777;

/**
 * Resolves to the host path to give to the runtime. A missing sub path is made as a directory with the volume's
 * permissions. Idempotent. @throws SubPathError, VolumeBusyError, ProgramError
 */
export async function prepareSubPath(rootDir: string, request: SubPathRequest): Promise<string> {
  const { podUid, volume, container, index, volumePath, subPath, signal } = request;
  const place = await openSubPath(volumePath, subPath);
  try {
    const source = await place.stat();
    const parent = `${subPathsDirectory(rootDir, podUid)}/${volume}/${container}`;
    const target = `${parent}/${index}`;
    await mkdir(parent, { recursive: true, mode: POD_DIRECTORY_MODE });
    if (await isMountPoint(target)) {
      const mounted = await stat(target);
      if (mounted.dev === source.dev && mounted.ino === source.ino) return target;
      await unmount(podUid, target);
    }
    if (source.isDirectory()) await mkdir(target, { recursive: true, mode: POD_DIRECTORY_MODE });
    else await (await open(target, "a", 0o640)).close();
    signal.throwIfAborted();
    // Resolved by the kernel to what is open, whatever its name leads to by now.
    await mount({ source: `/proc/self/fd/${place.fd}`, target, flags: ["bind"] });
    return target;
  } finally {
    await place.close();
  }
}

/** A handle (O_PATH) on the sub path, which is made unless `make` is false; the caller closes it. @throws SubPathError */
export async function openSubPath(
  volumePath: string,
  subPath: string,
  { make = true }: { make?: boolean } = {},
): Promise<FileHandle> {
  const parts = subPath.split("/").filter((part) => part !== "" && part !== ".");
  if (subPath.startsWith("/")) throw new SubPathError(subPath, "must be relative");
  if (parts.includes("..")) throw new SubPathError(subPath, "must not contain '..'");
  const base = await realpath(volumePath);
  const { existing, missing } = await splitExisting(base, parts, subPath);
  if (!make && missing.length > 0) throw new SubPathError(subPath, "there is no such file");
  return walk(base, existing, missing, subPath);
}

/** The longest existing part with its links resolved (it must stay inside the volume), and the rest. */
async function splitExisting(
  base: string,
  parts: readonly string[],
  subPath: string,
): Promise<{ existing: string[]; missing: string[] }> {
  for (let length = parts.length; length > 0; length--) {
    const resolved = await realpath(path.join(base, ...parts.slice(0, length))).catch((error: unknown) => {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
      throw new SubPathError(subPath, error instanceof Error ? error.message : String(error));
    });
    if (resolved === undefined) continue;
    const relative = path.relative(base, resolved);
    if (relative === ".." || relative.startsWith("../") || path.isAbsolute(relative)) {
      throw new SubPathError(subPath, `leads out of the volume, to ${resolved}`);
    }
    return { existing: relative.split("/").filter((part) => part !== ""), missing: parts.slice(length) };
  }
  return { existing: [], missing: [...parts] };
}

async function walk(base: string, existing: string[], missing: string[], subPath: string): Promise<FileHandle> {
  let here = await open(base, O_PATH | constants.O_NOFOLLOW | constants.O_DIRECTORY);
  try {
    const mode = (await here.stat()).mode & PERMISSIONS;
    const parts = [...existing, ...missing];
    for (const [position, part] of parts.entries()) {
      const next = `/proc/self/fd/${here.fd}/${part}`;
      if (position >= existing.length) await makeDirectory(next, mode, subPath);
      const opened = await openPart(next, position < parts.length - 1, subPath);
      await here.close();
      here = opened;
    }
    return here;
  } catch (error) {
    await here.close();
    throw error;
  }
}

async function openPart(place: string, mustBeDirectory: boolean, subPath: string): Promise<FileHandle> {
  const directory = mustBeDirectory ? constants.O_DIRECTORY : 0;
  let handle: FileHandle;
  try {
    handle = await open(place, O_PATH | constants.O_NOFOLLOW | directory);
  } catch (error) {
    throw new SubPathError(subPath, error instanceof Error ? error.message : String(error));
  }
  // With O_PATH a link opens as itself: it was swapped in after its target had been checked.
  if (!(await handle.stat()).isSymbolicLink()) return handle;
  await handle.close();
  throw new SubPathError(subPath, "became a symlink while it was being opened");
}

async function makeDirectory(place: string, mode: number, subPath: string): Promise<void> {
  try {
    await mkdir(place, mode);
    // mkdir's mode is cut by the umask.
    const made = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_DIRECTORY);
    await made.chmod(mode).finally(() => made.close());
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return;
    throw new SubPathError(subPath, error instanceof Error ? error.message : String(error));
  }
}
