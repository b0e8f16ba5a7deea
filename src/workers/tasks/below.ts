// Places in a tree in which containers may write meanwhile. Invariant: nothing is reached by a path: an open directory
// and one name in it, of any bytes, are.

import { errorCode } from "../../shared/base/errors/error-code.js";

/** Removed or replaced meanwhile: the process that changed it acted with its own rights. */
export const MOVED_ON: ReadonlySet<string> = new Set(["ENOENT", "ELOOP", "ENOTDIR"]);

/** The path of an entry of an open directory: one character per byte of its name. */
export function inside(directory: number, name: string): Buffer {
  return Buffer.from(`/proc/self/fd/${directory}/${name}`, "latin1");
}

/** undefined for an entry that was moved or removed meanwhile. */
export function unlessMovedOn<T>(step: () => T): T | undefined {
  try {
    return step();
  } catch (error) {
    if (MOVED_ON.has(errorCode(error) ?? "")) return undefined;
    throw error;
  }
}
