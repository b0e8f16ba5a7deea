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
import { withGroupBits } from "../../../shared/fs/group-mode.js";
import { inside, openBelow, unlessMovedOn } from "../below.js";

// A handle on the place itself, whatever it is; Node does not name the flag.
const O_PATH = 0o10000000;
const KEEP = -1;

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
