// The second disk: the package that was just built, the npm packages that it needs, and the container images. Made
// for every run, because the cached image must not depend on our code.

import { cp, copyFile, mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { build } from "esbuild";
import { copyCode, copyPackage } from "../../tools/install/copy-code.js";
import { productionPackages } from "../../tools/install/production-packages.js";
import { buildImages } from "../../tools/standalone/images.js";
import { newestPrograms } from "../../tools/standalone/newest-runtime.js";
import { step } from "../../tools/standalone/progress.js";
import { makeFileSystem } from "./image.js";

const SIZE = "384M";
const TREE = ["tools", "package.json", "package-lock.json", "LICENSE", "Makefile"];

/**
 * Makes the disk in `dir` with these packages, /images.tar, and at /package files of the integration suite with what
 * they need.
 */
export async function makePackagesPayload(
  root: string,
  dir: string,
  { packages, tests }: { packages: readonly string[]; tests: readonly string[] },
): Promise<string> {
  const tree = join(dir, "payload");
  await mkdir(tree);
  for (const file of packages) await copyFile(file, join(tree, basename(file)));
  if (tests.length > 0) await copyProject(root, join(tree, "package"));
  for (const name of tests) await bundleTest(root, name, join(tree, testIn(name)));
  await copyFile(await buildImages(join(root, ".cache")), join(tree, "images.tar"));
  const disk = join(dir, "payload.img");
  await makeFileSystem(tree, disk, SIZE);
  return disk;
}

/** Path of a test file below the root of the disk. Its paths to the kubelet are relative to tools/standalone. */
export function testIn(name: string): string {
  return `package/dist/tools/standalone/${name}.test.mjs`;
}

/** One file: Node under emulation reads hundreds of them slowly. */
async function bundleTest(root: string, name: string, outfile: string): Promise<void> {
  const require = `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);`;
  await build({
    entryPoints: [join(root, "dist/test/integration", `${name}.test.js`)],
    ...{ bundle: true, platform: "node", format: "esm", outfile, banner: { js: require }, logLevel: "error" },
  });
}

/** As `makePayload`, with containerd 2 and runc of Debian's newest suite: at /newest, to be linked to `NEWEST`. */
export async function makeNewestPayload(root: string, dir: string): Promise<string> {
  const programs = await newestPrograms(join(root, ".cache"), step);
  const tree = join(dir, "payload");
  await mkdir(join(tree, "newest"), { recursive: true });
  for (const part of ["bin", "sbin", "lib"]) {
    await cp(join(programs, "..", part), join(tree, "newest/usr", part), { recursive: true, verbatimSymlinks: true });
  }
  return makePayload(root, dir, "768M");
}

/** runc finds its C library below this path. */
export const newestIn = (root: string): string => join(root, ".cache/containerd-sid");

/** Makes the disk in `dir`: /package is what `make install` runs in, /images.tar what the runtime imports. */
export async function makePayload(root: string, dir: string, size = SIZE): Promise<string> {
  const tree = join(dir, "payload");
  await copyProject(root, join(tree, "package"));
  await copyFile(await buildImages(join(root, ".cache")), join(tree, "images.tar"));
  const disk = join(dir, "payload.img");
  await makeFileSystem(tree, disk, size);
  return disk;
}

/** The parts of the checkout that `make install` and the kubelet need. */
async function copyProject(root: string, home: string): Promise<void> {
  await mkdir(home, { recursive: true });
  for (const part of TREE) await cp(join(root, part), join(home, part), { recursive: true });
  for (const part of ["dist/agent", "dist/tools"]) await copyCode(join(root, part), join(home, part));
  for (const part of await productionPackages(root)) await copyPackage(join(root, part), join(home, part));
}
