import { readdir } from "node:fs/promises";
import { errnoOf } from "./problem.js";

/** The names in a folder; none where it is missing. */
export async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  });
}
