// The files of one run of a container, opened together. Rotation may rename, compress and delete them during a read,
// but open files stay readable.
// Invariant: no file is missed or taken twice during a rotation; every handle is closed by its owner.

import type { BigIntStats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "../../../../shared/base/errors/error-code.js";
import { OperatorError } from "../../../../shared/base/errors/operator-error.js";
import { openUntrusted, statUntrusted } from "../../../../shared/io/fs/untrusted-file.js";
import { inUntrustedFolder, namesOf as namesIn } from "../../../../shared/io/fs/untrusted-folder.js";
import { currentName, logFileNames, type LogFileName } from "../../../../shared/node/container-logs/file-names.js";
import { onLogFile } from "../../../../shared/node/container-logs/own-log-link.js";

export interface OpenLogFile {
  readonly name: LogFileName;
  readonly handle: FileHandle;
  readonly ino: bigint;
  /** Size at the time of opening. */
  readonly size: number;
}

/** A run of a container: its folder below the pod's log directory, and which file. */
export interface LogRun {
  readonly directory: string;
  readonly current: string;
  /** Ids of the container's runs: a link to Docker's file of one of them is followed. */
  readonly containerIds: readonly string[];
}

const TRIES = 50;

export function logRun(
  podLogDirectory: string,
  container: string,
  restartCount: number,
  containerIds: readonly string[] = [],
): LogRun {
  return { directory: join(podLogDirectory, container), current: currentName(restartCount), containerIds };
}

/**
 * Opens the files that `pick` takes, oldest first, the one being written last; they are consistent with each other.
 * None if the name is a link that leads nowhere.
 * @throws OperatorError
 */
export async function openLogFiles(
  run: LogRun,
  pick: (names: LogFileName[]) => readonly LogFileName[] | Promise<readonly LogFileName[]> = (names) => names,
): Promise<OpenLogFile[]> {
  let dangling = 0;
  for (let tries = 0; tries < TRIES; tries++) {
    const before = await namesOf(run);
    const opened: OpenLogFile[] = [];
    let keep = false;
    try {
      const picked = await pick(before);
      for (const name of picked) opened.push(await openLogFile(run, name));
      const after = await namesOf(run);
      keep = sameNames(before, after) && (await isCurrent(run, opened.at(-1)));
      if (keep) return opened;
    } catch (error) {
      // Rotation was faster: list again.
      if (errorCode(error) !== "ENOENT") throw error;
      if (sameNames(before, await namesOf(run))) dangling++;
    } finally {
      if (!keep) await closeLogFiles(opened);
    }
  }
  if (dangling === TRIES) return [];
  throw new OperatorError(
    `the files in ${run.directory} changed during each of ${TRIES} tries to open them; try again`,
  );
}

export async function closeLogFiles(files: readonly OpenLogFile[]): Promise<void> {
  await Promise.all(files.map(({ handle }) => handle.close()));
}

/**
 * Files that may have a line of that time or later. A file's last change is not older than its last line. The newest
 * file is always among them.
 */
export async function modifiedSince(
  run: LogRun,
  names: readonly LogFileName[],
  sinceNanos: bigint,
): Promise<LogFileName[]> {
  const wanted = await Promise.all(
    names.map(async ({ name }, index) => {
      if (index === names.length - 1) return true;
      return (await statIn(run, name)).mtimeNs >= sinceNanos - COARSE_CLOCK_NS;
    }),
  );
  return names.filter((_, index) => wanted[index]);
}

/** File systems stamp with a clock that ticks every few milliseconds; a container's runtime stamps exactly. */
const COARSE_CLOCK_NS = 1_000_000_000n;

/** Inode of the file being written; undefined between a rotation's rename and the runtime's new file. */
export async function currentInode(run: LogRun): Promise<bigint | undefined> {
  try {
    return (await statIn(run, run.current)).ino;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** True if this rotated file is the open one. Compression gives a file another inode and keeps its time. */
export async function isSameFile(run: LogRun, name: LogFileName, file: OpenLogFile): Promise<boolean> {
  try {
    const [there, own] = await Promise.all([statIn(run, name.name), file.handle.stat({ bigint: true })]);
    if (!name.compressed) return there.ino === own.ino && there.dev === own.dev;
    return Math.abs(Number(there.mtimeNs - own.mtimeNs)) < SAME_TIME_NS;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw error;
  }
}

/** Time stamps are copied by way of floating-point seconds. */
const SAME_TIME_NS = 1_000_000;

async function namesOf(run: LogRun): Promise<LogFileName[]> {
  try {
    // Names of other runs do not count, however many there are.
    const own = (name: string): boolean => name.startsWith(run.current);
    const names = await inUntrustedFolder(run.directory, (path) => namesIn(path, own));
    return logFileNames(names, run.current);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}

async function openLogFile(run: LogRun, name: LogFileName): Promise<OpenLogFile> {
  const { handle, stats } = await onFile(run, name.name, (path) => openUntrusted(path));
  return { name, handle, ino: stats.ino, size: Number(stats.size) };
}

function statIn(run: LogRun, name: string): Promise<BigIntStats> {
  return onFile(run, name, statUntrusted);
}

function onFile<T>(run: LogRun, name: string, work: (path: string) => Promise<T>): Promise<T> {
  const { directory, containerIds } = run;
  return inUntrustedFolder(directory, (folder) => onLogFile({ folder, directory, name, containerIds }, work));
}

function sameNames(a: readonly LogFileName[], b: readonly LogFileName[]): boolean {
  return a.length === b.length && a.every(({ name }, index) => name === b[index]?.name);
}

/** After a rotation a new file has the same name: only its inode differs. */
async function isCurrent(run: LogRun, last: OpenLogFile | undefined): Promise<boolean> {
  return last?.name.stem !== undefined || last === undefined || (await currentInode(run)) === last.ino;
}
