// A folder of the cache is complete from the moment it has its name, and two processes may make the same one.

import { rename } from "node:fs/promises";
import { errnoOf } from "./problem.js";

/**
 * Renames a complete folder to `folder`. If another process was first, its folder stays, and `incoming` is the caller's
 * to remove.
 */
export async function moveIntoPlace(incoming: string, folder: string): Promise<void> {
  await rename(incoming, folder).catch((error: unknown) => {
    if (errnoOf(error) !== "ENOTEMPTY" && errnoOf(error) !== "EEXIST") throw error;
  });
}
