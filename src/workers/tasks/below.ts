// Ways into a tree in which containers may write meanwhile. INVARIANT: no link is followed, so nothing outside the tree is
// reached: directories are opened component by component. Synchronous, as everything in a pool thread.
import { closeSync, constants, openSync } from "node:fs";
import { errorCode } from "../../shared/fs/atomic-write.js";

const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Gone, or something else by now: whoever changed it made it with the rights it has. */
const MOVED_ON = new Set(["ENOENT", "ELOOP", "ENOTDIR"]);

/** A handle on the directory, to be closed; undefined: it is not there any more. `relative`: one character per byte. */
export function openBelow(root: string, relative: string): number | undefined {
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

/** The path of what an open directory holds under that name. */
export function inside(directory: number, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`/proc/self/fd/${directory}/`), name]);
}

/** undefined for what has moved on meanwhile. */
export function unlessMovedOn<T>(step: () => T): T | undefined {
  try {
    return step();
  } catch (error) {
    if (MOVED_ON.has(errorCode(error) ?? "")) return undefined;
    throw error;
  }
}
