// Files below a folder by their ending: Node 20 has no glob of its own.

import { existsSync, readdirSync } from "node:fs";

export { existsSync };

/** Paths relative to `folder`, sorted. */
export function globSync(folder: string, ending: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .sort();
}
