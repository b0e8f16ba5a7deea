// Files below a folder by their ending: Node 20 has no glob of its own.

import { readdirSync } from "node:fs";

/** Paths relative to `folder`, sorted. */
export function globSync(folder: string, ending: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .sort();
}
