// Makes JavaScript of each source that changed, without looking at types: `npm run typecheck` does that
// (docs/adr/0078).
// Invariant: a file in dist is replaced in one step, so that a program that starts meanwhile reads the old or the new
// one, never a part.

import { existsSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/**
 * Writes dist/<name>.js and its source map for each of `names` (paths of .ts files from the root).
 * @throws with all syntax errors
 */
export async function transpile(root, names) {
  if (names.length === 0) return;
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: names,
    outdir: join(root, "dist"),
    outbase: root,
    bundle: false,
    format: "esm",
    platform: "node",
    target: "node20.19",
    sourcemap: true,
    write: false,
    logLevel: "silent",
  });
  const folders = new Set(outputFiles.map(({ path }) => dirname(path)));
  for (const folder of folders) await mkdir(folder, { recursive: true });
  for (const { path, contents } of outputFiles) {
    await writeFile(`${path}.new`, contents);
    await rename(`${path}.new`, path);
  }
}

/** Removes what earlier builds made of `names`: code of a deleted source must not live on. */
export async function removeOutputs(root, names) {
  for (const name of names) {
    const output = join(root, "dist", name.replace(/\.ts$/, ".js"));
    for (const path of [output, `${output}.map`]) await rm(path, { force: true });
  }
}

/** True if the JavaScript of `name` is there. */
export function isTranspiled(root, name) {
  return existsSync(join(root, "dist", name.replace(/\.ts$/, ".js")));
}
