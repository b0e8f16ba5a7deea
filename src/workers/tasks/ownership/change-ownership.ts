// Changes the group of a volume's files to its fsGroup. Containers may write there meanwhile.
// Invariant: no link is followed, so nothing outside the volume is changed. Directories are opened component by
// component, files by O_PATH. The change applies to the open file, not to its name. Synchronous, as everything in a
// pool thread: a call costs some microseconds.

import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lchownSync,
  lstatSync,
  openSync,
} from "node:fs";
import { systemClock } from "../../../shared/base/clock/clock.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import type { ChangeOwnershipJob, ChangeOwnershipResult } from "../../../shared/contracts/tasks.js";
import { withGroupBits } from "../../../shared/io/fs/group-mode.js";
import { entryKind, type DirectoryEntry } from "../../../shared/io/os/directory-stream.js";
import { inside, unlessMovedOn } from "../below.js";
import { TreeWalk } from "../tree-walk.js";

// A handle on the place itself, of any type; Node does not name the flag.
const O_PATH = 0o10000000;
const KEEP = -1;

export function changeOwnership(job: ChangeOwnershipJob): ChangeOwnershipResult {
  const { root, group, readOnly, place } = job;
  const walk = new TreeWalk(root, place);
  let files = 0;
  try {
    const enter = (directory: number): void => changeDirectory(directory, group, readOnly);
    const entry = (directory: number, found: DirectoryEntry): boolean => {
      files++;
      return changeEntry(directory, found, group, readOnly);
    };
    walk.run({ enter, entry }, { most: job.maxFiles, until: systemClock.monotonic() + job.maxMs });
  } catch (error) {
    return { files, error: { path: walk.path, message: messageOf(error) } };
  }
  return omitUndefined({ files, place: walk.place });
}

function changeDirectory(directory: number, group: number, readOnly: boolean): void {
  const mode = withGroupBits(fstatSync(directory), readOnly);
  // chown first: it may clear setgid.
  fchownSync(directory, KEEP, group);
  fchmodSync(directory, mode);
}

/** Changes an entry that is not a directory; returns whether the entry is a directory. */
function changeEntry(directory: number, { name, kind }: DirectoryEntry, group: number, readOnly: boolean): boolean {
  const place = inside(directory, name);
  return (
    unlessMovedOn(() => {
      const known = kind === entryKind.unknown ? kindOf(place) : kind;
      if (known === entryKind.directory) return true;
      if (known === entryKind.link) lchownSync(place, KEEP, group);
      else changeFile(place, group, readOnly);
      return false;
    }) ?? false
  );
}

/** For file systems that do not report kinds with names. */
function kindOf(place: Buffer): number {
  const stats = lstatSync(place);
  if (stats.isDirectory()) return entryKind.directory;
  return stats.isSymbolicLink() ? entryKind.link : entryKind.unknown;
}

function changeFile(place: Buffer, group: number, readOnly: boolean): void {
  const file = openSync(place, O_PATH | constants.O_NOFOLLOW);
  try {
    const stats = fstatSync(file);
    // It was replaced by a link or directory since it was listed.
    if (stats.isSymbolicLink() || stats.isDirectory()) return;
    const itself = `/proc/self/fd/${file}`;
    chownSync(itself, KEEP, group);
    chmodSync(itself, withGroupBits(stats, readOnly));
  } finally {
    closeSync(file);
  }
}
