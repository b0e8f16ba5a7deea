// Plans the rotation of container logs: which logs, when to check them, and which files to keep. Pure.
// Invariant: afterwards there are at most maxFiles files, the one being written included. Only the oldest files beyond
// maxFiles are lost.

import {
  COMPRESSED,
  logFileNames,
  nextStem,
  strayNames,
  UNFINISHED,
} from "../../../shared/node/container-logs/file-names.js";

export interface RotationPlan {
  /** Strays first, then files beyond the number allowed, oldest first. */
  remove: string[];
  /** The name that the file being written gets. */
  rotated: string;
}

/**
 * @param maxFiles containerLogMaxFiles, at least 2.
 * @param inWork Names of rotated files that are being compressed now: their unfinished output is no stray.
 */
export function planRotation(
  names: readonly string[],
  current: string,
  options: { maxFiles: number; now: Date; inWork: ReadonlySet<string> },
): RotationPlan {
  const { maxFiles, now, inWork } = options;
  const strays = strayNames(names, current).filter(
    (name) => !name.endsWith(UNFINISHED) || !inWork.has(name.slice(0, -UNFINISHED.length)),
  );
  const gone = new Set(strays);
  const rotated = logFileNames(
    names.filter((name) => !gone.has(name)),
    current,
  ).filter(({ stem }) => stem !== undefined);
  // One place is for the file about to be rotated, one for the new one.
  const excess = rotated.slice(0, Math.max(0, rotated.length - (maxFiles - 2)));
  const newest = rotated.at(-1)?.stem;
  return { remove: [...strays, ...excess.map(({ name }) => name)], rotated: `${current}.${nextStem(now, newest)}` };
}

/**
 * Rotated files to be compressed, oldest first: all plain ones but the newest. Followers may still read that one, and
 * the runtime may still write to it.
 */
export function filesToCompress(names: readonly string[], current: string): string[] {
  return logFileNames(names, current)
    .filter(({ stem }) => stem !== undefined)
    .slice(0, -1)
    .flatMap(({ name }) => (name.endsWith(COMPRESSED) ? [] : [name]));
}
