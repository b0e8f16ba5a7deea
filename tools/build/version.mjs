// version.json beside the code: which version this is, and of which commit. A file, not a constant of the bundle: a
// commit that changes no code makes no new bundle. src/shared/base/version/product-version.ts reads it.

import { spawnSync } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** { version, commit? } of the sources in `root`. Without git, or outside a checkout of its own, there is no commit. */
async function versionOf(root) {
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const commit = commitOf(root);
  return commit === undefined ? { version } : { version, commit };
}

/** Writes version.json into each of `folders` that exists, if it would change. */
export async function writeVersion(root, folders) {
  const text = `${JSON.stringify(await versionOf(root))}\n`;
  for (const folder of folders) {
    const file = join(folder, "version.json");
    if (!existsSync(folder) || (existsSync(file) && (await readFile(file, "utf8")) === text)) continue;
    await writeFile(`${file}.new`, text);
    await rename(`${file}.new`, file);
  }
}

/** As `git describe` says it. Before the first tag, as though the first commit had the tag v0.0.0. */
function commitOf(root) {
  // The sources may lie in a repository of something else.
  const top = git(root, "rev-parse", "--show-toplevel");
  if (top === undefined || realpathSync(top) !== realpathSync(root)) return undefined;
  const tagged = git(root, "describe", "--tags", "--match=v[0-9]*", "--abbrev=12", "--dirty");
  if (tagged !== undefined) return tagged;
  const bare = git(root, "describe", "--always", "--exclude=*", "--abbrev=12", "--dirty");
  const commits = git(root, "rev-list", "--count", "HEAD");
  return bare === undefined || commits === undefined ? undefined : `v0.0.0-${commits}-g${bare}`;
}

/** The line that git prints; undefined where git is missing or refuses. */
function git(root, ...words) {
  const { status, stdout } = spawnSync("git", ["-C", root, ...words], { encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}
