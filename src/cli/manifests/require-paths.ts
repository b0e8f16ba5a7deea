import { MissingArgumentError } from "../usage-errors.js";

/** @throws MissingArgumentError where no text of manifests is named */
export function requirePaths(paths: readonly string[]): void {
  if (paths.length === 0) {
    throw new MissingArgumentError("no manifest is named: give a file, a folder, or - for standard input");
  }
}
