// The build: JavaScript of each source that changed, then the bundle of the kubelet if one of its inputs changed.
// `dist/.build.json` has the inputs of the last build. A step that fails leaves them as they were, so the next command
// repeats it.

import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CannotStart } from "./cannot-start.mjs";
import { withLock } from "./lock.mjs";
import { sourceState } from "./sources.mjs";
import { step } from "./step.mjs";
import { isTranspiled, removeOutputs, transpile } from "./transpile.mjs";
import { writeVersion } from "./version.mjs";

const NOTHING = { files: {}, transpiler: "", bundle: "" };

/**
 * Brings dist up to date with the sources in `root`. Without `bundle` the kubelet's bundle may stay old. Returns what
 * was done: numbers of transpiled and removed sources, and whether the bundle was made.
 * @throws CannotStart
 */
export function build(root, { bundle = true } = {}) {
  return withLock(
    root,
    async () => {
      const done = await transpileChanges(root);
      await writeVersion(root, [join(root, "dist", "src")]);
      const bundled = bundle && (await bundleChanges(root));
      await writeVersion(root, [join(root, "dist", "agent")]);
      return { ...done, bundled };
    },
    () => process.stderr.write("  … waiting for another build of this checkout\n"),
  );
}

async function transpileChanges(root) {
  const now = sourceState(root);
  const last = await lastBuild(root);
  // What another tool compiled, or an older build, may be code of deleted sources.
  if (last === NOTHING) await removeCode(root);
  const all = last.transpiler !== now.transpiler;
  const changed = Object.keys(now.files).filter(
    (name) => all || last.files[name] !== now.files[name] || !isTranspiled(root, name),
  );
  const removed = Object.keys(last.files).filter((name) => !(name in now.files));
  if (changed.length === 0 && removed.length === 0) return { transpiled: 0, removed: 0 };
  await removeOutputs(root, removed);
  try {
    await transpile(root, changed);
  } catch (error) {
    if (Array.isArray(error.errors)) throw new CannotStart(`the build failed:\n${error.errors.map(lineOf).join("\n")}`);
    throw error;
  }
  await record(root, { ...last, files: now.files, transpiler: now.transpiler });
  return { transpiled: changed.length, removed: removed.length };
}

/** Folders of dist without code. They may have been fetched before the first build. */
const NO_CODE = ["packages", "apt", "site"];

async function removeCode(root) {
  const dist = join(root, "dist");
  const names = existsSync(dist) ? await readdir(dist) : [];
  for (const name of names.filter((one) => !NO_CODE.includes(one)))
    await rm(join(dist, name), { recursive: true, force: true });
}

async function bundleChanges(root) {
  const { bundle } = sourceState(root);
  const last = await lastBuild(root);
  if (bundle === last.bundle && existsSync(join(root, "dist", "agent"))) return false;
  await record(root, { ...last, bundle: "" });
  await step(root, "bundling the kubelet", process.execPath, [join("tools", "bundle", "main.mjs")]);
  await record(root, { ...last, bundle });
  return true;
}

/** An error of esbuild, with its place as editors understand it. */
function lineOf({ text, location }) {
  return location === null ? text : `${location.file}:${location.line}:${location.column + 1}: ${text}`;
}

async function lastBuild(root) {
  try {
    return { ...NOTHING, ...JSON.parse(await readFile(fileOf(root), "utf8")) };
  } catch (error) {
    // A damaged record costs one whole build.
    if (error.code === "ENOENT" || error instanceof SyntaxError) return NOTHING;
    throw error;
  }
}

async function record(root, state) {
  await mkdir(join(root, "dist"), { recursive: true });
  await writeFile(`${fileOf(root)}.new`, JSON.stringify(state));
  await rename(`${fileOf(root)}.new`, fileOf(root));
}

function fileOf(root) {
  return join(root, "dist", ".build.json");
}
