// The version of a package: between two releases it has the number of commits, so that every later build is an upgrade
// of the one before. Both dpkg and rpm sort "0.2.0~dev.7.g…" below "0.2.0", and "0.2.0+3.g…" above it.

import type { ProductVersion } from "../../src/shared/base/version/product-version.js";

/** `commit` as `git describe` names it, of tools/build/version.mjs. */
const DESCRIBED = /^(?<tag>v[\w.]+?)(?:-(?<commits>\d+)-(?<hash>g[0-9a-f]+))?(?<dirty>-dirty)?$/;

/** "0.2.0" for the sources of the tag v0.2.0 and for sources without git; otherwise with commits and hash. */
export function packageVersion({ version, commit }: ProductVersion): string {
  const { tag, commits, hash, dirty } = DESCRIBED.exec(commit ?? "")?.groups ?? {};
  if (tag === undefined || commit === `v${version}`) return version;
  const details = [commits ?? "0", ...(hash === undefined ? [] : [hash]), ...(dirty === undefined ? [] : ["dirty"])];
  return tag === `v${version}` ? `${version}+${details.join(".")}` : `${version}~dev.${details.join(".")}`;
}
