// A record beside the installation lists its new files and folders, so that uninstall removes exactly those. Invariant:
// an update keeps the folders that the first installation made.

import { readFile } from "node:fs/promises";
import { errnoOf, messageOf, SetupProblem } from "../standalone/problem.js";

export interface InstallRecord {
  version: 1;
  /** Files outside our own folder. */
  files: string[];
  /** Folders we made outside it, outermost first. */
  folders: string[];
}

/** Undefined when nothing of ours is installed there. Throws SetupProblem for a file that is no record. */
export async function readRecord(path: string): Promise<InstallRecord | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw new SetupProblem(`cannot read ${path}: ${messageOf(error)}`);
  }
  const record = parse(text);
  if (record === undefined)
    throw new SetupProblem(`${path} is no record of an installation: remove its folder by hand`);
  return record;
}

function parse(text: string): InstallRecord | undefined {
  try {
    const value = JSON.parse(text) as Partial<InstallRecord>;
    const paths = [value.files, value.folders];
    const valid = paths.every((list) => Array.isArray(list) && list.every((path) => typeof path === "string"));
    return value.version === 1 && valid ? (value as InstallRecord) : undefined;
  } catch {
    return undefined;
  }
}
