// Which sources there are, and which of them changed since the last build.
// Invariant: a source is known by its path, modification time and size; nothing is read to find out that nothing
// changed.

import { createHash } from "node:crypto";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const FOLDERS = ["src", "test", "bench", "tools"];
/** Files beside the sources that change what the transpiler writes. */
const TRANSPILER = ["tsconfig.json", "tools/build/transpile.mjs"];
/** Files beside src that change what the bundler writes. */
const BUNDLER = ["package.json", "package-lock.json"];
const BUNDLER_FOLDER = "tools/bundle";

/**
 * The inputs of the build of the project in `root`.
 * `files`: version of each source by its path; `transpiler` and `bundle`: hashes of all that these two steps read
 * beside. The bundle has a code cache, so it also depends on V8 (docs/adr/0057).
 */
export function sourceState(root) {
  const names = FOLDERS.flatMap((folder) => sourcesBelow(root, folder));
  const versions = names.map((name) => [name, versionOf(join(root, name))]);
  const ofSource = versions.filter(([name]) => name.startsWith("src/"));
  const bundler = [...BUNDLER, ...filesOf(root, BUNDLER_FOLDER)];
  return {
    files: Object.fromEntries(versions.filter(([name]) => name.endsWith(".ts"))),
    transpiler: hashOf(settings(root, TRANSPILER)),
    bundle: hashOf([["v8", process.versions.v8], ...ofSource, ...settings(root, bundler)]),
  };
}

function filesOf(root, folder) {
  const path = join(root, folder);
  return existsSync(path)
    ? readdirSync(path)
        .sort()
        .map((name) => `${folder}/${name}`)
    : [];
}

function settings(root, names) {
  return names.filter((name) => existsSync(join(root, name))).map((name) => [name, versionOf(join(root, name))]);
}

function versionOf(path) {
  const { mtimeMs, size } = statSync(path);
  return `${mtimeMs} ${size}`;
}

function hashOf(pairs) {
  const hash = createHash("sha256");
  for (const [name, version] of pairs) hash.update(`${name}\0${version}\n`);
  return hash.digest("hex");
}

/** Sources below a folder, by their paths from the root; of src also the page's style and document. */
function sourcesBelow(root, folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true })
    .filter((name) => name.endsWith(".ts") || (folder === "src" && /\.(css|html)$/.test(name)))
    .map((name) => `${folder}/${name}`)
    .sort();
}
