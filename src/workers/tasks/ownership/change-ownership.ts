// Gives what is in a volume to its fsGroup. Containers may write there meanwhile: INVARIANT: no link is followed, so
// nothing outside the volume is touched. Directories are opened component by component, files by O_PATH, and what was
// opened, not its name, is changed. Synchronous, as everything in a pool thread: a call costs some microseconds.
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lchownSync,
  opendirSync,
  openSync,
  type Dirent,
} from "node:fs";
import type { ChangeOwnershipJob, ChangeOwnershipResult } from "../../../shared/contracts/tasks.js";
import { errorCode } from "../../../shared/fs/atomic-write.js";
import { withGroupBits } from "../../../shared/fs/group-mode.js";

// A handle on the place itself, whatever it is; Node does not name the flag.
const O_PATH = 0o10000000;
const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const KEEP = -1;
/** Gone, or something else by now: whoever changed it made it with the rights it has. */
const MOVED_ON = new Set(["ENOENT", "ELOOP", "ENOTDIR"]);

export function changeOwnership(job: ChangeOwnershipJob): ChangeOwnershipResult {
  const pending = [...job.pending];
  let files = 0;
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    try {
      files += changeDirectory(job, next, pending);
    } catch (error) {
      const path = `${job.root}/${Buffer.from(next, "latin1").toString()}`;
      return { pending, files, error: { path, message: error instanceof Error ? error.message : String(error) } };
    }
    if (files >= job.maxFiles) break;
  }
  return { pending, files };
}

/** The directory (but for the root) and the files in it; its directories are put into `pending`. */
function changeDirectory({ root, group, readOnly }: ChangeOwnershipJob, relative: string, pending: string[]): number {
  const directory = openBelow(root, relative);
  if (directory === undefined) return 0;
  let files = 1;
  try {
    if (relative !== "") {
      const mode = withGroupBits(fstatSync(directory), readOnly);
      // chown first: it may clear setgid.
      fchownSync(directory, KEEP, group);
      fchmodSync(directory, mode);
    }
    for (const { name, link } of entries(directory, relative, pending)) {
      files++;
      const place = inside(directory, name);
      unlessMovedOn(() => (link ? lchownSync(place, KEEP, group) : changeFile(place, group, readOnly)));
    }
  } finally {
    closeSync(directory);
  }
  return files;
}

/** What is no directory. */
function* entries(
  directory: number,
  relative: string,
  pending: string[],
): Generator<{ name: Buffer; link: boolean }, void> {
  const listing = opendirSync(`/proc/self/fd/${directory}`, { encoding: "latin1" as BufferEncoding });
  try {
    for (let entry: Dirent | null = listing.readSync(); entry !== null; entry = listing.readSync()) {
      if (entry.isDirectory()) pending.push(relative === "" ? entry.name : `${relative}/${entry.name}`);
      else yield { name: Buffer.from(entry.name, "latin1"), link: entry.isSymbolicLink() };
    }
  } finally {
    listing.closeSync();
  }
}

function changeFile(place: Buffer, group: number, readOnly: boolean): void {
  const file = openSync(place, O_PATH | constants.O_NOFOLLOW);
  try {
    const stats = fstatSync(file);
    // A link or a directory by now: not what was listed.
    if (stats.isSymbolicLink() || stats.isDirectory()) return;
    const itself = `/proc/self/fd/${file}`;
    chownSync(itself, KEEP, group);
    chmodSync(itself, withGroupBits(stats, readOnly));
  } finally {
    closeSync(file);
  }
}

function openBelow(root: string, relative: string): number | undefined {
  let here = openSync(root, constants.O_RDONLY | constants.O_DIRECTORY);
  for (const part of relative.split("/").filter((name) => name !== "")) {
    const above = here;
    const next = unlessMovedOn(() => openSync(inside(above, Buffer.from(part, "latin1")), DIRECTORY));
    closeSync(above);
    if (next === undefined) return undefined;
    here = next;
  }
  return here;
}

function inside(directory: number, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`/proc/self/fd/${directory}/`), name]);
}

function unlessMovedOn<T>(step: () => T): T | undefined {
  try {
    return step();
  } catch (error) {
    if (MOVED_ON.has(errorCode(error) ?? "")) return undefined;
    throw error;
  }
}
