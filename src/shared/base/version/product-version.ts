// The version of nodelet itself: what `nodelet version`, the kubelet's first log line and the packages say. `kubelet
// --version` says the version of Kubernetes whose contract is kept (src/main/command/version.ts), as upstream's kubelet
// does.

import { readFileSync } from "node:fs";
import { omitUndefined } from "../objects/omit-undefined.js";

export interface ProductVersion {
  /** As in package.json, or as `make packages VERSION=` was asked: "0.2.0". */
  version: string;
  /**
   * As `git describe` names the sources: "v0.2.0", "v0.1.0-12-g0123456789ab", "…-dirty". Absent where they were built
   * without git.
   */
  commit?: string | undefined;
}

/**
 * What the build wrote beside the code (tools/build/version.mjs). Reads synchronously: for start-up and for short
 * commands.
 */
export function productVersion(): ProductVersion {
  return readProductVersion(new URL("../../../version.json", import.meta.url));
}

/** @internal */
export function readProductVersion(file: URL): ProductVersion {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    // Code that was copied without the file runs all the same.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { version: "unknown" };
    throw error;
  }
  const { version, commit } = JSON.parse(text) as Partial<ProductVersion>;
  return omitUndefined<ProductVersion>({ version: version ?? "unknown", commit });
}

/** "0.2.0 (v0.1.0-12-g0123456789ab)", or "0.2.0" for a build of exactly that version or without git. */
export function describeVersion({ version, commit }: ProductVersion): string {
  return commit === undefined || commit === `v${version}` ? version : `${version} (${commit})`;
}
