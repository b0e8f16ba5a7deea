// Reads files of a tag or commit from a clone of a public repository, without a work tree.

import { join } from "node:path";
import { run } from "../../standalone/exec.js";
import type { ReadFile } from "./read-contract.js";

/**
 * @param folder has the clones, each in a folder "api" or "apimachinery"
 * @param refs a tag, or "<commit of api>,<commit of apimachinery>"
 */
export function readerOf(folder: string, refs: string): ReadFile {
  const [api = "", apimachinery = api] = refs.split(",");
  return async (repository, path) => {
    const ref = repository === "api" ? api : apimachinery;
    const clone = ["-C", join(folder, repository)];
    const known = await run("git", [...clone, "ls-tree", "--name-only", ref, path]);
    return known === "" ? "" : run("git", [...clone, "show", `${ref}:${path}`]);
  };
}
